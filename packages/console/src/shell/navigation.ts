import {
  Activity,
  ChartColumn,
  Gauge,
  type LucideIcon,
  Scale,
  Settings,
  Wallet,
  Webhook,
} from 'lucide-react';

export interface NavigationEntry {
  readonly label: string;
  /** Below `/p/:projectId/`. */
  readonly path: string;
  readonly icon: LucideIcon;
}

/** The parts of a project, in the order in which a new user needs them. */
export const NAVIGATION: readonly NavigationEntry[] = [
  { label: 'Boards', path: 'boards', icon: ChartColumn },
  { label: 'Usage', path: 'usage', icon: Activity },
  { label: 'Rules', path: 'rules', icon: Scale },
  { label: 'Limits', path: 'limits', icon: Gauge },
  { label: 'Billing', path: 'billing', icon: Wallet },
  { label: 'Webhooks', path: 'webhooks', icon: Webhook },
  { label: 'Settings', path: 'settings', icon: Settings },
];
