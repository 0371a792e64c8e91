import { CircleAlert } from 'lucide-react';
import { Component, type ReactNode } from 'react';
import { Button } from '../ui/button.js';
import { EmptyState, messageOf } from '../ui/states.js';

interface PageBoundaryProps {
  /** Where one is: gone elsewhere, what is there is tried. */
  readonly at?: string;
  readonly head?: ReactNode;
  readonly children: ReactNode;
}

interface PageBoundaryState {
  readonly failure: { readonly error: unknown } | undefined;
}

/**
 * Keeps what is around a page whose code could not be loaded, as after an update of the service, or that
 * could not be drawn: without it everything would go, without a word.
 */
export class PageBoundary extends Component<PageBoundaryProps, PageBoundaryState> {
  override state: PageBoundaryState = { failure: undefined };

  static getDerivedStateFromError(error: unknown): PageBoundaryState {
    return { failure: { error } };
  }

  override componentDidUpdate({ at }: PageBoundaryProps): void {
    if (at !== this.props.at && this.state.failure !== undefined) this.setState({ failure: undefined });
  }

  override render(): ReactNode {
    const { failure } = this.state;
    if (failure === undefined) return this.props.children;
    return (
      <>
        {this.props.head}
        <div role="alert">
          <EmptyState
            icon={<CircleAlert size={20} />}
            title="This page could not be shown"
            action={<Button onClick={() => window.location.reload()}>Reload</Button>}
          >
            If the service was updated meanwhile, reloading brings the new console. What was saved is safe.
            The browser says: {messageOf(failure.error)}
          </EmptyState>
        </div>
      </>
    );
  }
}
