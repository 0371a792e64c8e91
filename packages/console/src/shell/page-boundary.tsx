import { CircleAlert } from 'lucide-react';
import { Component, type ReactNode } from 'react';
import { Button } from '../ui/button.js';
import { EmptyState, messageOf } from '../ui/states.js';

interface PageBoundaryProps {
  /** The current address. When it changes, the page is rendered again. */
  readonly at?: string;
  readonly head?: ReactNode;
  readonly children: ReactNode;
}

interface PageBoundaryState {
  readonly failure: { readonly error: unknown } | undefined;
}

/**
 * Shows an error in place of a page whose code failed to load, as after an update of the service, or failed to
 * render. Without it, the whole console would become blank.
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
            If the service was just updated, reload to get the new console. Your saved data is not affected.
            Browser error: {messageOf(failure.error)}
          </EmptyState>
        </div>
      </>
    );
  }
}
