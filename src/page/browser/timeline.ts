import { h, type JSX } from 'preact'

/** An event on a line of time; its time is null while it has not occurred. */
export interface Step {
  readonly name: string
  readonly ms: number | null
  readonly text: string
}

/** Points on a line of time, in proportion to their times. */
export function Timeline({
  steps,
  kind
}: {
  readonly steps: readonly Step[]
  readonly kind: string
}): JSX.Element {
  const known = steps.flatMap(({ ms }) => (ms === null ? [] : [ms]))
  const first = Math.min(...known)
  const span = Math.max(1, Math.max(...known) - first)
  const placed = steps.filter(({ ms }) => ms !== null)
  const line = h(
    'div',
    {
      class: `timeline ${kind}`,
      role: 'img',
      'aria-label': placed.map(({ name, text }) => `${name} ${text}`).join(', ')
    },
    placed.map(({ name, ms, text }) =>
      h('span', {
        key: name,
        class: 'step',
        style: { left: `${((ms! - first) / span) * 100}%` },
        title: `${name}: ${text}`
      })
    )
  )
  return h(
    'div',
    null,
    line,
    h('p', { class: 'note' }, placed.map(({ name, text }) => `${name} ${text}`).join(' · '))
  )
}
