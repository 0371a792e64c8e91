import { Ellipsis } from 'lucide-react';
import { useState } from 'react';
import { Button, IconButton } from '../../ui/button.js';
import { ConfirmDialog } from '../../ui/confirm-dialog.js';
import { Menu } from '../../ui/menu.js';
import type { RuleSet, RuleSetKind } from './api.js';
import { ArchiveDialog } from './archive-dialog.js';
import { PublishDialog } from './publish-dialog.js';
import type { Editing } from './use-editing.js';

export interface RuleSetActionsProps extends Pick<Editing, 'copy' | 'changes' | 'findings' | 'save'> {
  readonly kind: RuleSetKind;
  readonly ruleSet: RuleSet;
}

/** The actions on a rule set. The next step, saving or publishing, is the primary button. */
export function RuleSetActions({ kind, ruleSet, copy, changes, findings, save }: RuleSetActionsProps) {
  const [asking, setAsking] = useState<'publish' | 'archive' | 'discard'>();
  const isDraft = ruleSet.status === 'draft';
  const isSavable = copy.isDirty && copy.body !== undefined;
  const close = () => setAsking(undefined);
  const publish = async () => {
    if ((await save()) !== undefined) setAsking('publish');
  };
  return (
    <>
      {copy.isDirty && <Button onClick={() => setAsking('discard')}>Discard</Button>}
      <Button
        look={copy.isDirty ? 'primary' : 'plain'}
        disabled={!isSavable}
        isBusy={changes.save.isPending}
        onClick={() => void save()}
      >
        Save draft
      </Button>
      <Button
        look={isDraft && !copy.isDirty ? 'primary' : 'plain'}
        disabled={!(isDraft || isSavable) || findings.length > 0 || copy.body === undefined}
        title={isDraft || copy.isDirty ? undefined : 'There is no draft to publish.'}
        onClick={() => void publish()}
      >
        Publish…
      </Button>
      <Menu
        trigger={
          <IconButton label="Actions for this rule set">
            <Ellipsis size={16} />
          </IconButton>
        }
        items={[{ label: 'Archive…', isDangerous: true, onSelect: () => setAsking('archive') }]}
      />
      {asking === 'publish' && (
        <PublishDialog kind={kind} ruleSet={ruleSet} change={changes.publish} onClose={close} />
      )}
      {asking === 'archive' && (
        <ArchiveDialog kind={kind} ruleSet={ruleSet} change={changes.archive} onClose={close} />
      )}
      <ConfirmDialog
        title="Discard changes?"
        action="Discard"
        change={NO_REQUEST}
        isOpen={asking === 'discard'}
        onClose={close}
        onConfirm={() => {
          copy.discard();
          changes.save.reset();
          close();
        }}
      >
        All changes since the last save are lost.
      </ConfirmDialog>
    </>
  );
}

/** Discarding sends no request. */
const NO_REQUEST = { isPending: false, isError: false, error: null };
