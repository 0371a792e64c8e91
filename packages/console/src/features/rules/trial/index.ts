export { BacktestPanel } from './backtest-panel.js';
export { TestPanel } from './test-panel.js';
