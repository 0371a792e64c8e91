import type { Project } from '@tollgate/contract';
import { createContext, type ReactNode, useContext } from 'react';

const ProjectContext = createContext<Project | undefined>(undefined);

export function ProjectProvider({
  project,
  children,
}: {
  readonly project: Project;
  readonly children: ReactNode;
}) {
  return <ProjectContext value={project}>{children}</ProjectContext>;
}

/** The project whose pages are shown. */
export function useProject(): Project {
  const project = useContext(ProjectContext);
  if (project === undefined) throw new Error('this page belongs to no project');
  return project;
}

/** API path of the project, below `/api`. */
export function useProjectPath(): string {
  return `/v1/projects/${useProject().id}`;
}
