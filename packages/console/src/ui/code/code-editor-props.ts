import type { FieldControlProps } from '../field.js';

/** Something that is wrong with the text, between two offsets of it. */
export interface CodeFinding {
  readonly from: number;
  readonly to: number;
  readonly message: string;
}

export interface CodeEditorProps {
  readonly value: string;
  /** Not needed where the text is only read. */
  readonly onChange?: (value: string) => void;
  readonly language: 'json' | 'cel';
  /** Its name, for those who hear it. */
  readonly label: string;
  readonly isReadOnly?: boolean;
  readonly findings?: readonly CodeFinding[];
  /** In pixels. */
  readonly minHeight?: number;
  /** In pixels: a longer text is scrolled in its place. By default it is shown whole. */
  readonly maxHeight?: number;
  /** Enter breaks no line: for an expression. */
  readonly isSingleLine?: boolean;
  /** Offered behind `dimensions.`, in an expression. */
  readonly dimensionNames?: readonly string[];
  /** Seen while there is no text. */
  readonly placeholder?: string;
  /** What ties it to its field. */
  readonly control?: FieldControlProps;
}
