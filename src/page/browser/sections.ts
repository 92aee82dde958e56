import { h, type ComponentType, type JSX } from 'preact'
import { linkTo } from './place.ts'

interface SectionsProps {
  readonly view: string
  readonly name: string
  /** Sections by their name in the URL; the first one opens without a name. */
  readonly sections: Readonly<Record<string, readonly [title: string, part: ComponentType]>>
  readonly chosen: string
}

/** A view of several sections, with links to them. */
export function Sections({ view, name, sections, chosen }: SectionsProps): JSX.Element {
  const [first = ''] = Object.keys(sections)
  const current = chosen in sections ? chosen : first
  const [, Part] = sections[current]!
  return h(
    'div',
    { class: 'view' },
    h('h1', { class: 'hidden' }, name),
    h(
      'nav',
      { class: 'sections', 'aria-label': `${name}: sections` },
      Object.entries(sections).map(([section, [title]]) =>
        h(
          'a',
          {
            key: section,
            href: linkTo(view, section),
            'aria-current': section === current ? 'page' : undefined
          },
          title
        )
      )
    ),
    h(Part, null)
  )
}
