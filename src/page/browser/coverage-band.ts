import { h, type JSX } from 'preact'
import { count } from './format.ts'

export interface Band {
  readonly from: number
  readonly to: number
  readonly kind: 'live' | 'archive' | 'partial' | 'missing'
  readonly text: string
}

const WIDTH = 1_000
const HEIGHT = 34
/** Smallest width of a band, so that a gap of one slot is seen. */
const WIDTH_MIN = 3

/** Ranges of slots as a band over time. */
export function CoverageBand({ bands }: { readonly bands: readonly Band[] }): JSX.Element | null {
  const [first] = bands
  const last = bands.at(-1)
  if (first === undefined || last === undefined) return null
  const span = Math.max(1, last.to - first.from + 1)
  const missing = bands.filter(({ kind }) => kind === 'missing').length
  return h(
    'div',
    null,
    h(
      'svg',
      {
        class: 'coverage',
        viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
        preserveAspectRatio: 'none',
        role: 'img',
        'aria-label': `Slots ${first.from} to ${last.to}, with ${missing} gaps`
      },
      bands.map(({ from, to, kind, text }) =>
        h(
          'g',
          { key: from, class: kind },
          h('title', null, `${kind}: slots ${from} to ${to}. ${text}`),
          h('rect', {
            x: ((from - first.from) / span) * WIDTH,
            y: 0,
            width: Math.max(WIDTH_MIN, ((to - from + 1) / span) * WIDTH),
            height: HEIGHT
          })
        )
      )
    ),
    h(
      'p',
      { class: 'ends note' },
      h('span', null, `slot ${count(first.from)}`),
      h('span', null, `slot ${count(last.to)}`)
    )
  )
}
