import type { Project } from '@tollgate/contract';
import type { ProjectClient } from '@tollgate/sdk/browser';
import { createContext, type ReactNode, useContext, useMemo } from 'react';
import { client } from './api/transport.js';

interface ProjectValue {
  readonly project: Project;
  readonly client: ProjectClient;
}

const ProjectContext = createContext<ProjectValue | undefined>(undefined);

export function ProjectProvider({
  project,
  children,
}: {
  readonly project: Project;
  readonly children: ReactNode;
}) {
  const value = useMemo(() => ({ project, client: client.project(project.id) }), [project]);
  return <ProjectContext value={value}>{children}</ProjectContext>;
}

/** The project whose pages are shown. */
export function useProject(): Project {
  return useProjectValue().project;
}

/** Requests to the project whose pages are shown. */
export function useProjectClient(): ProjectClient {
  return useProjectValue().client;
}

function useProjectValue(): ProjectValue {
  const value = useContext(ProjectContext);
  if (value === undefined) throw new Error('this page belongs to no project');
  return value;
}
