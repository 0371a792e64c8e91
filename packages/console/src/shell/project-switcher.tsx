import { Check, ChevronsUpDown } from 'lucide-react';
import { useLocation } from 'wouter';
import { useProjects } from '../api/projects.js';
import { useProject } from '../project.js';
import { Button } from '../ui/button.js';
import { Menu } from '../ui/menu.js';

export function ProjectSwitcher() {
  const project = useProject();
  const { data: projects = [] } = useProjects();
  const [, navigate] = useLocation();
  const trigger = (
    <Button look="plain" className="w-full" aria-label={`Project ${project.name}; choose another`}>
      <span className="min-w-0 grow truncate text-left">{project.name}</span>
      <ChevronsUpDown size={14} className="text-ink-faint" />
    </Button>
  );
  return (
    <Menu
      trigger={trigger}
      items={projects.map(({ id, name }) => ({
        label: name,
        isChosen: id === project.id,
        icon: <Check size={14} className={id === project.id ? '' : 'invisible'} />,
        onSelect: () => navigate(`/p/${id}/boards`),
      }))}
    />
  );
}
