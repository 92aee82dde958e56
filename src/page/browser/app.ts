import { Component, h, type ComponentChildren, type ComponentType, type JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Explanation } from './explain.ts'
import { KeyBar, KeyGate } from './key-panel.ts'
import { liveState } from './live.ts'
import { linkTo, place, type Place } from './place.ts'
import { SearchBox } from './search.ts'
import { apiKey, theme, type Theme } from './session.ts'
import { useStore } from './store.ts'
import { Market } from './views/market.ts'

/** A view of the page; `argument` is an address or a section. */
export type View = ComponentType<{ readonly argument: string }>

/** Views by their name in the URL. All but the first are loaded when they are opened. */
const VIEWS: Readonly<Record<string, () => Promise<View>>> = {
  market: async () => Market,
  token: async () => (await import('./views/token.ts')).TokenView,
  wallet: async () => (await import('./views/wallet.ts')).WalletView,
  pool: async () => (await import('./views/pool.ts')).PoolView,
  tx: async () => (await import('./views/transaction.ts')).TransactionView,
  tenant: async () => (await import('./views/tenant.ts')).TenantView,
  operator: async () => (await import('./views/operator.ts')).OperatorView
}

const SECTIONS = [
  ['Market', 'market'],
  ['Tenant', 'tenant'],
  ['Operator', 'operator']
] as const

/** The page: a head with search, and the view that the URL names. */
export function App(): JSX.Element {
  const current = useStore(place)
  const key = useStore(apiKey)
  return h(
    'div',
    { class: 'app' },
    h(
      'button',
      { type: 'button', class: 'skip', onClick: () => document.querySelector<HTMLElement>('#main')?.focus() },
      'Skip to the content'
    ),
    h(
      'header',
      { class: 'top' },
      h('a', { class: 'brand', href: linkTo('market') }, h(Brand, null), h('span', null, 'Millrace')),
      h(
        'nav',
        { 'aria-label': 'Views' },
        SECTIONS.map(([name, view]) =>
          h(
            'a',
            { key: view, href: linkTo(view), 'aria-current': current.view === view ? 'page' : undefined },
            name
          )
        ),
        h('a', { href: 'docs' }, 'API')
      ),
      h(SearchBox, null),
      h('div', { class: 'top-tools' }, h(LiveMark, null), h(ThemeSwitch, null), h(KeyBar, null))
    ),
    h(
      'main',
      { id: 'main', tabIndex: -1 },
      key === '' ? h(KeyGate, null) : h(CurrentView, { key: current.view, place: current })
    ),
    h(
      'footer',
      null,
      h('a', { href: 'docs' }, 'API reference'),
      h('a', { href: 'problems' }, 'Problems'),
      h(
        'span',
        null,
        'Charts by ',
        h('a', { href: 'https://www.tradingview.com/', rel: 'noreferrer' }, 'TradingView'),
        ' Lightweight Charts™'
      )
    ),
    h(Explanation, null)
  )
}

/** Loads and shows a view. */
function CurrentView({ place: { view, argument } }: { readonly place: Place }): JSX.Element {
  const [loaded, setLoaded] = useState<{ readonly View: View } | null>(null)
  const [fault, setFault] = useState<string | null>(null)
  const load = VIEWS[view]
  useEffect(() => {
    let isShown = true
    load?.().then(
      (View) => isShown && setLoaded({ View }),
      (error: unknown) => {
        console.error(error)
        if (isShown) setFault('The service has a newer page, or does not answer.')
      }
    )
    return () => {
      isShown = false
    }
  }, [view])
  if (load === undefined)
    return h(Note, null, 'There is no such view. ', h('a', { href: linkTo('market') }, 'To the market'))
  if (fault !== null)
    return h(
      Note,
      null,
      fault,
      ' ',
      h('button', { type: 'button', onClick: () => location.reload() }, 'Reload the page')
    )
  if (loaded === null) return h(Note, null, 'Loading …')
  return h(Guard, { key: argument }, h(loaded.View, { key: argument, argument }))
}

function Note({ children }: { readonly children?: ComponentChildren }): JSX.Element {
  return h('p', { class: 'note view-note', role: 'status' }, children)
}

/** Shows a fault of a view in its place; the head and the search stand. */
class Guard extends Component<{ readonly children?: ComponentChildren }, { readonly fault: string | null }> {
  override state = { fault: null as string | null }

  override componentDidCatch(error: unknown): void {
    console.error(error)
    this.setState({ fault: String(error) })
  }

  override render(): ComponentChildren {
    const { fault } = this.state
    if (fault === null) return this.props.children
    return h(
      Note,
      null,
      `The view failed: ${fault}. `,
      h('button', { type: 'button', onClick: () => this.setState({ fault: null }) }, 'Show it again')
    )
  }
}

function Brand(): JSX.Element {
  return h(
    'svg',
    { viewBox: '0 0 32 32', width: 26, height: 26, 'aria-hidden': 'true' },
    h('rect', { width: 32, height: 32, rx: 8, fill: '#0f766e' }),
    h('path', {
      d: 'M5 20c3.5 0 3.5-3 7-3s3.5 3 7 3 3.5-3 7-3',
      fill: 'none',
      stroke: '#99f6e4',
      'stroke-width': 2.5,
      'stroke-linecap': 'round'
    }),
    h('path', { d: 'M9 12v-3M16 14V6M23 11V8', stroke: '#fff', 'stroke-width': 3, 'stroke-linecap': 'round' })
  )
}

/** Whether the newest connection to the stream delivers. */
function LiveMark(): JSX.Element | null {
  const state = useStore(liveState)
  if (state === null) return null
  const { isLive, text } = state
  return h(
    'span',
    { class: `live ${isLive ? 'is-live' : ''}`, title: `Stream: ${text}` },
    h('span', { class: 'dot', 'aria-hidden': 'true' }),
    isLive ? 'live' : 'not live'
  )
}

const NEXT_THEME: Readonly<Record<Theme, Theme>> = { system: 'dark', dark: 'light', light: 'system' }
const THEME_SIGNS: Readonly<Record<Theme, string>> = { system: '◐', dark: '☾', light: '☀' }

function ThemeSwitch(): JSX.Element {
  const chosen = useStore(theme)
  const name = `Colors: ${chosen}; switch to ${NEXT_THEME[chosen]}`
  const button = useRef<HTMLButtonElement>(null)
  return h(
    'button',
    {
      type: 'button',
      ref: button,
      class: 'plain theme',
      title: name,
      'aria-label': name,
      onClick: () => theme.set(NEXT_THEME[chosen])
    },
    THEME_SIGNS[chosen]
  )
}
