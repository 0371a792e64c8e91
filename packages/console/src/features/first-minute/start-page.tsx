import { PageHeader } from '../../shell/page-header.js';
import { FirstMinute } from './first-minute.js';

/** The page of the first steps, which also works after they are done. */
export function StartPage() {
  return (
    <>
      <PageHeader title="First steps" />
      <div className="px-4 pb-10 sm:px-6">
        <FirstMinute />
      </div>
    </>
  );
}
