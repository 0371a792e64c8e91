import type { Project } from '@tollgate/contract';
import { Check, ChevronsUpDown } from 'lucide-react';
import { useLocation } from 'wouter';
import { useProjects, useTenants } from '../api/projects.js';
import { useMe } from '../api/session.js';
import { useProject } from '../project.js';
import { Button } from '../ui/button.js';
import { Menu } from '../ui/menu.js';

/** Opens the same part of another project. With the service key, projects are grouped by tenant. */
export function ProjectSwitcher() {
  const project = useProject();
  const { data: projects = [] } = useProjects();
  const isService = useMe().kind === 'service';
  const { data: tenants = [] } = useTenants(isService);
  const [location, navigate] = useLocation();
  const [, , , part = 'boards'] = location.split('/');
  const tenantOf = ({ tenant_id }: Project) => tenants.find(({ id }) => id === tenant_id)?.name ?? tenant_id;
  const trigger = (
    <Button look="plain" className="w-full" aria-label={`Project ${project.name}, switch project`}>
      <span className="min-w-0 grow truncate text-left">{project.name}</span>
      <ChevronsUpDown size={14} className="text-ink-faint" />
    </Button>
  );
  const shown = isService ? byTenant(projects) : projects;
  return (
    <Menu
      trigger={trigger}
      items={shown.map((each) => ({
        label: each.name,
        group: isService ? tenantOf(each) : undefined,
        isChosen: each.id === project.id,
        icon: <Check size={14} className={each.id === project.id ? '' : 'invisible'} />,
        onSelect: () => navigate(`/p/${each.id}/${part}`),
      }))}
    />
  );
}

/** Groups projects by tenant and otherwise keeps their order. */
function byTenant(projects: readonly Project[]): readonly Project[] {
  const tenants = [...new Set(projects.map(({ tenant_id }) => tenant_id))];
  return tenants.flatMap((tenant) => projects.filter(({ tenant_id }) => tenant_id === tenant));
}
