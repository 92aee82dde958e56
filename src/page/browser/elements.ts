import { h, type ComponentChildren, type JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Problem } from './api.ts'
import { Avatar } from './avatar.ts'
import { serviceNow } from './clock.ts'
import { age, nameText, percent, short } from './format.ts'
import { linkTo } from './place.ts'
import { Store, useStore } from './store.ts'

/** The time of the service in Unix milliseconds, each second: ages follow it. */
const now = new Store(serviceNow())
setInterval(() => document.hidden || now.set(serviceNow()), 1_000)

/** The age of a time, which grows. */
export function Age({ ms }: { readonly ms: number }): JSX.Element {
  const nowMs = useStore(now)
  const iso = new Date(ms).toISOString()
  return h('time', { dateTime: iso, title: `${iso.slice(0, 19).replace('T', ' ')} UTC` }, age(ms, nowMs))
}

interface PanelProps {
  readonly title: string
  readonly id: string
  readonly class?: string
  /** Controls beside the title. */
  readonly tools?: ComponentChildren
  readonly problem?: Problem | null
  /** Whether the first answer is still missing. */
  readonly isLoading?: boolean
  readonly onRetry?: () => void
  readonly children?: ComponentChildren
}

/** A part of a view. If its call fails it says why, and the other parts stand. */
export function Panel({
  title,
  id,
  class: name = '',
  tools,
  problem,
  isLoading,
  onRetry,
  children
}: PanelProps): JSX.Element {
  return h(
    'section',
    { class: `panel ${name}`, 'aria-labelledby': id },
    h('header', { class: 'panel-head' }, h('h2', { id }, title), tools),
    problem === null || problem === undefined
      ? null
      : h(ProblemNote, { problem, ...(onRetry && { onRetry }) }),
    isLoading === true && (problem === null || problem === undefined)
      ? h('p', { class: 'note loading', role: 'status' }, 'Loading …')
      : children
  )
}

export function ProblemNote({
  problem,
  onRetry
}: {
  readonly problem: Problem
  readonly onRetry?: () => void
}): JSX.Element {
  return h(
    'p',
    { class: 'problem', role: 'status' },
    h('strong', null, problem.title),
    ` ${problem.message} `,
    onRetry === undefined ? null : h('button', { type: 'button', onClick: onRetry }, 'Retry')
  )
}

export function CopyButton({
  text,
  name = 'Copy'
}: {
  readonly text: string
  readonly name?: string
}): JSX.Element {
  const [wasCopied, setWasCopied] = useState(false)
  useEffect(() => {
    if (!wasCopied) return undefined
    const timer = setTimeout(() => setWasCopied(false), 1_500)
    return () => clearTimeout(timer)
  }, [wasCopied])
  const copy = (): void =>
    void navigator.clipboard.writeText(text).then(
      () => setWasCopied(true),
      // Without a secure context a browser has no clipboard; the text can be selected.
      () => undefined
    )
  return h(
    'button',
    { type: 'button', class: 'plain copy', title: name, 'aria-label': name, onClick: copy },
    h(
      'svg',
      { width: 14, height: 14, viewBox: '0 0 16 16', 'aria-hidden': 'true', class: 'icon' },
      wasCopied
        ? h('path', { d: 'M3 8.5l3.5 3.5L13 4.5' })
        : [
            h('rect', { key: 1, x: 5.5, y: 5.5, width: 8, height: 8, rx: 1.5 }),
            h('path', { key: 2, d: 'M10.5 2.5H4A1.5 1.5 0 0 0 2.5 4v6.5' })
          ]
    )
  )
}

/** A link to the view of an address or a signature, by its ends. */
export function AddressLink({
  view,
  address,
  text,
  isStop = true
}: {
  readonly view: 'token' | 'wallet' | 'pool' | 'tx'
  readonly address: string
  readonly text?: string
  readonly isStop?: boolean
}): JSX.Element {
  return h(
    'a',
    {
      href: linkTo(view, address),
      title: address,
      class: text === undefined ? 'mono' : '',
      tabIndex: isStop ? 0 : -1
    },
    text ?? short(address)
  )
}

interface TokenNameProps {
  readonly mint: string
  readonly symbol: string | null
  readonly name: string | null
}

/** A token by its picture, symbol and name, which strangers chose: they are text and nothing else. */
export function TokenName({ mint, symbol, name }: TokenNameProps): JSX.Element {
  const shown = nameText(symbol)
  return h(
    'a',
    { href: linkTo('token', mint), class: 'token-name', title: mint },
    h(Avatar, { seed: mint, text: shown ?? '?' }),
    h(
      'span',
      null,
      h('bdi', { class: 'symbol' }, shown ?? short(mint)),
      h('bdi', { class: 'full-name' }, nameText(name) ?? (shown === null ? 'no name known' : ''))
    )
  )
}

/** A change in percent, green or red; the sign says it without the color. */
export function Change({ pct }: { readonly pct: number | null | undefined }): JSX.Element {
  const direction = pct === null || pct === undefined || pct === 0 ? 'flat' : pct > 0 ? 'up' : 'down'
  return h('span', { class: `change ${direction}` }, percent(pct))
}

interface ChoiceProps<T extends string> {
  readonly name: string
  readonly options: readonly T[]
  readonly chosen: T
  readonly onChoose: (option: T) => void
}

/** Buttons of which one is pressed. */
export function Choice<T extends string>({ name, options, chosen, onChoose }: ChoiceProps<T>): JSX.Element {
  return h(
    'div',
    { class: 'choice', role: 'group', 'aria-label': name },
    options.map((option) =>
      h(
        'button',
        { key: option, type: 'button', 'aria-pressed': option === chosen, onClick: () => onChoose(option) },
        option
      )
    )
  )
}

/** A share of a whole as a bar. */
export function Bar({
  pct,
  name,
  class: kind = ''
}: {
  readonly pct: number
  readonly name: string
  readonly class?: string
}): JSX.Element {
  const width = Math.max(0, Math.min(100, pct))
  return h(
    'div',
    { class: `bar ${kind}`, role: 'img', 'aria-label': name },
    h('div', { class: 'bar-fill', style: { width: `${width}%` } })
  )
}

export interface Column<Row> {
  readonly name: string
  /** Whether cells are numbers, which end at the right. */
  readonly isNumber?: boolean
  /** Narrow screens leave the column out. */
  readonly isWide?: boolean
  readonly cell: (row: Row, at: number) => ComponentChildren
}

interface TableProps<Row> {
  readonly name: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row, at: number) => string | number
  readonly empty: string
}

/** A table of up to some hundred rows. */
export function Table<Row>({ name, columns, rows, keyOf, empty }: TableProps<Row>): JSX.Element {
  if (rows.length === 0) return h('p', { class: 'note' }, empty)
  const kind = ({ isNumber, isWide }: Column<Row>): string =>
    `${isNumber === true ? 'number' : ''} ${isWide === true ? 'wide' : ''}`
  return h(
    'div',
    { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': name },
    h(
      'table',
      null,
      h(
        'thead',
        null,
        h(
          'tr',
          null,
          columns.map((column) =>
            h('th', { key: column.name, scope: 'col', class: kind(column) }, column.name)
          )
        )
      ),
      h(
        'tbody',
        null,
        rows.map((row, at) =>
          h(
            'tr',
            { key: keyOf(row, at) },
            columns.map((column) => h('td', { key: column.name, class: kind(column) }, column.cell(row, at)))
          )
        )
      )
    )
  )
}

/** A list of named values. */
export function Facts({
  rows
}: {
  readonly rows: readonly (readonly [name: string, value: ComponentChildren] | null)[]
}): JSX.Element {
  return h(
    'dl',
    { class: 'facts' },
    rows.flatMap((row) =>
      row === null ? [] : [h('div', { key: row[0] }, h('dt', null, row[0]), h('dd', null, row[1]))]
    )
  )
}
