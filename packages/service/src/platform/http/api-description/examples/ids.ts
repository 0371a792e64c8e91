/** Ids that examples share, so that they tell one story: a customer of Acme uses a large model. */
export const TENANT = 'ten_0198a4f0c1d27a3b8c4d5e6f70819203';
export const PROJECT = 'prj_0198a4f0c2e37b4c9d5e6f7081920314';
export const EXTRACTOR_RULE_SET = 'ers_0198a4f0c3f47c5dae6f708192031425';
export const PRICING_RULE_SET = 'prs_0198a4f0c4057d6ebf70819203142536';
export const COST_RULE_SET = 'prs_0198a4f0c4057d6ebf70819203142537';
export const ACCOUNT = 'acct_0198a4f0c5167e7f8081920314253647';
export const ROUTE = 'ra_0198a4f0c6277f809192031425364758';
export const PLAN = 'ulp_0198a4f0c7387091a203142536475869';
export const PLAN_VERSION = 'ulpv_0198a4f0c84971a2b31425364758697a';
export const PLAN_RULE = 'ulpr_0198a4f0c95a72b3842536475869708b';
export const LIMIT = 'racl_0198a4f0ca6b73c49536475869708b9c';
export const RAISE = 'lra_0198a4f0d5057d6eef3142536475efd6';
export const LEASE = 'bl_0198a4f0cb7c74d5a6475869708b9cad';
export const EVENT = 'evt_6894e2a01f5b3c7d9e0a2b4c6d8e0f12';
export const TRANSACTION = 'led_0198a4f0cd8d75e6b75869708b9cadbe';
export const BOARD = 'brd_0198a4f0ce9e76f7885869708b9cadcf';
export const CHART = 'chr_0198a4f0cfaf7708996970819cadbed0';
export const ENDPOINT = 'whe_0198a4f0d0b07819aa70819203acbed1';
export const MESSAGE = 'msg_0198a4f0d1c1792abb819203142dced2';
export const CORRECTION = 'cor_0198a4f0d3e37b4ccd920314253647d4';
export const KEY = 'key_0198a4f0d4f47c5dde92031425364ed5';
export const BACKTEST = 'bt_0198a4f0d2d27a3bbc9203142536ced3';

/** Owner fields of everything in the project. */
export const OWNER = { tenant_id: TENANT, project_id: PROJECT } as const;
/** 2025-08-07 17:30:08 UTC, when the event of the story happens. */
export const NOW = 1_754_587_808;
/** 2025-08-01 00:00:00 UTC. */
export const MONTH_START = 1_754_006_400;
/** 2025-09-01 00:00:00 UTC. */
export const MONTH_END = 1_756_684_800;
export const CUSTOMER = { subject_type: 'customer', subject_id: 'c-42' } as const;
