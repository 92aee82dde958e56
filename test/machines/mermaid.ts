import type { AnyStateMachine, AnyStateNode } from 'xstate'

/** Draws a machine as a Mermaid state diagram: its states, and the events, delays and guards of its transitions. */
export function drawMachine({ root }: AnyStateMachine): string {
  const arrows: string[] = []
  return ['stateDiagram-v2', ...drawStates(root, '  ', arrows), ...arrows].join('\n')
}

function drawStates(node: AnyStateNode, indent: string, arrows: string[]): string[] {
  const children = Object.values<AnyStateNode>(node.states)
  const lines = children.flatMap((child) => {
    arrows.push(...drawTransitions(child))
    const inner = drawStates(child, `${indent}  `, arrows)
    const named = `${indent}state "${child.key}" as ${idOf(child)}`
    return inner.length === 0 ? [named] : [`${named} {`, ...inner, `${indent}}`]
  })
  if (node.type === 'parallel')
    return lines.flatMap((line, at) => (at > 0 && line.endsWith('{') ? [`${indent}--`, line] : [line]))
  const initial = children.find((child) => child.key === node.config.initial)
  return initial === undefined ? lines : [`${indent}[*] --> ${idOf(initial)}`, ...lines]
}

function drawTransitions(node: AnyStateNode): string[] {
  const arrows = [...node.transitions.values(), node.always ?? []]
    .flat()
    .flatMap(({ eventType, guard, target }) =>
      (target ?? []).map((to) => {
        const words = [nameOf(String(eventType)), typeof guard === 'string' ? `[${guard}]` : ''].filter(
          Boolean
        )
        return `  ${idOf(node)} --> ${idOf(to)}${words.length > 0 ? `: ${words.join(' ')}` : ''}`
      })
    )
  return node.type === 'final' ? [`  ${idOf(node)} --> [*]`] : arrows
}

/** Returns `after drain` for the end of a delay, and an empty name for a transition without an event. */
function nameOf(eventType: string): string {
  if (eventType.startsWith('xstate.done.state')) return 'all ended'
  return eventType.replace(/^xstate\.after\.(\w+)\..*$/, 'after $1')
}

function idOf(node: AnyStateNode): string {
  return node.path.join('_')
}
