import { PageHeader } from '../../shell/shell.js';
import { EventList } from './event-list.js';

export function UsagePage() {
  return (
    <>
      <PageHeader title="Usage" />
      <EventList />
    </>
  );
}
