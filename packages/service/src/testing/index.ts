export { createTestPostgres, type TestPostgres } from './postgres.js';
export { waitFor } from './wait-for.js';
