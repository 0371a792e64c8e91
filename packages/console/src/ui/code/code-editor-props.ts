import type { FieldControlProps } from '../field.js';

/** An error in the text, between two offsets. */
export interface CodeFinding {
  readonly from: number;
  readonly to: number;
  readonly message: string;
}

export interface CodeEditorProps {
  readonly value: string;
  /** Not needed for read-only text. */
  readonly onChange?: (value: string) => void;
  readonly language: 'json' | 'cel';
  /** Accessible name. */
  readonly label: string;
  readonly isReadOnly?: boolean;
  readonly findings?: readonly CodeFinding[];
  /** In pixels. */
  readonly minHeight?: number;
  /** In pixels. A longer text scrolls. By default the whole text is shown. */
  readonly maxHeight?: number;
  /** Enter does not add a line break. For expressions. */
  readonly isSingleLine?: boolean;
  /** Completions after `dimensions.` in an expression. */
  readonly dimensionNames?: readonly string[];
  /** Shown while the text is empty. */
  readonly placeholder?: string;
  /** Attributes that connect the editor with its field. */
  readonly control?: FieldControlProps;
}
