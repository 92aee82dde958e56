import type { DetailsProps } from './parts.ts'
import type { Container, LibraryView, Plugin, View } from './swagger.ts'

/** The page in one column: an introduction, the key, the endpoints and the stream. */
export const layout: Plugin = ({ React }) => {
  const { createElement: h } = React

  function MillraceLayout({ getComponent, specSelectors, layoutActions, layoutSelectors }: Container) {
    const Markdown = getComponent('Markdown', true)
    const Details = getComponent<View<DetailsProps>>('MillraceDetails')
    const part = (name: string): LibraryView => getComponent(name, true)

    const info = specSelectors.info()
    const [origin, ...conventions] = (info.get('description') ?? '').split('\n\n')
    const filter = layoutSelectors.currentFilter()
    return h(
      'div',
      { className: 'column' },
      h(
        'header',
        null,
        h('h1', null, info.get('title'), ' ', h('small', null, info.get('version'))),
        h('div', { className: 'swagger-ui' }, h(Markdown, { source: origin })),
        h(
          'nav',
          { 'aria-label': 'Sections' },
          h('a', { href: './' }, 'The market'),
          h('a', { href: '#endpoints' }, 'Endpoints'),
          h('a', { href: '#stream' }, 'Stream'),
          h('a', { href: 'problems' }, 'Problems'),
          h('a', { href: 'openapi.json' }, 'OpenAPI'),
          h('a', { href: 'asyncapi.json' }, 'AsyncAPI')
        ),
        h(Details, {
          summary: 'Numbers, time, lists and errors',
          content: () =>
            h('div', { className: 'swagger-ui' }, h(Markdown, { source: conventions.join('\n\n') }))
        })
      ),
      h(part('MillraceKeyPanel'), null),
      h(
        'main',
        null,
        h(
          'section',
          { id: 'endpoints', tabIndex: -1, 'aria-labelledby': 'endpoints-title' },
          h('h2', { id: 'endpoints-title' }, 'Endpoints'),
          h(
            'p',
            { className: 'row' },
            h('label', { htmlFor: 'filter' }, 'Find'),
            h('input', {
              id: 'filter',
              type: 'search',
              placeholder: 'candles, wallets, Market …',
              value: typeof filter === 'string' ? filter : '',
              onChange: (event: Event) =>
                layoutActions.updateFilter((event.currentTarget as HTMLInputElement).value)
            })
          ),
          h(
            'div',
            { className: 'swagger-ui' },
            h(part('errors'), null),
            h(part('operations'), null),
            h(part('Models'), null)
          )
        ),
        h(part('MillraceStream'), null)
      )
    )
  }

  return { components: { MillraceLayout } }
}
