import { h, type JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { callOf } from './api.ts'
import type { SearchHit, SearchResult } from './answers.ts'
import { Avatar } from './avatar.ts'
import { nameText, short, usd } from './format.ts'
import { linkTo } from './place.ts'
import { useAnswer } from './use-answer.ts'

/** Milliseconds after the last key press before a search is made: a fast typist's pause. */
const PAUSE_MS = 120
const TEXT_LENGTH_MAX = 100
const VIEW_OF = { token: 'token', pool: 'pool', wallet: 'wallet', transaction: 'tx' } as const

const linkOf = ({ kind, address }: SearchHit): string => linkTo(VIEW_OF[kind], address)

/** Search by address, symbol, name or signature, with the keyboard: `/` focuses it, arrows choose, Enter opens. */
export function SearchBox(): JSX.Element {
  const [typed, setTyped] = useState('')
  const [text, setText] = useState('')
  const [isOpen, setIsOpen] = useState(false)
  const [chosen, setChosen] = useState(0)
  const input = useRef<HTMLInputElement>(null)
  const { answer, problem } = useAnswer<SearchResult>(
    text === '' ? null : callOf('/v1/search', {}, { q: text, limit: 8 })
  )
  const hits = answer?.body.data ?? []

  useEffect(() => {
    const timer = setTimeout(() => setText(typed.trim().slice(0, TEXT_LENGTH_MAX)), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [typed])
  useEffect(() => setChosen(0), [text])
  useEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea, select')
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return
      event.preventDefault()
      input.current?.focus()
    }
    addEventListener('keydown', focus)
    return () => removeEventListener('keydown', focus)
  }, [])

  const leave = (): void => {
    setIsOpen(false)
    setTyped('')
    setText('')
    input.current?.blur()
  }
  const open = (hit: SearchHit | undefined): void => {
    if (hit === undefined) return
    location.hash = linkOf(hit)
    leave()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') return leave()
    if (event.key === 'Enter') {
      event.preventDefault()
      return open(hits[chosen])
    }
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step === 0 || hits.length === 0) return
    event.preventDefault()
    setChosen((chosen + step + hits.length) % hits.length)
  }
  const isShown = isOpen && text !== ''
  return h(
    'div',
    { class: 'search', role: 'search' },
    h('input', {
      ref: input,
      type: 'search',
      role: 'combobox',
      'aria-label': 'Search tokens, pools, wallets and transactions',
      'aria-expanded': isShown && hits.length > 0,
      'aria-controls': 'search-hits',
      'aria-autocomplete': 'list',
      'aria-activedescendant': isShown && hits.length > 0 ? `hit-${chosen}` : undefined,
      placeholder: 'Symbol, name, address or signature',
      value: typed,
      maxLength: TEXT_LENGTH_MAX,
      spellcheck: false,
      autoComplete: 'off',
      onInput: (event: Event) => {
        setTyped((event.currentTarget as HTMLInputElement).value)
        setIsOpen(true)
      },
      onFocus: () => setIsOpen(true),
      // A click on a hit comes after the blur.
      onBlur: () => setTimeout(() => setIsOpen(false), 200),
      onKeyDown
    }),
    h('kbd', { 'aria-hidden': 'true' }, '/'),
    isShown
      ? h(
          'div',
          { class: 'hits' },
          h(
            'ul',
            { id: 'search-hits', role: 'listbox', 'aria-label': 'Hits' },
            hits.map((hit, at) =>
              h(
                'li',
                {
                  key: `${hit.kind} ${hit.address}`,
                  id: `hit-${at}`,
                  role: 'option',
                  'aria-selected': at === chosen,
                  onMouseDown: () => open(hit)
                },
                h(Avatar, { seed: hit.address, text: nameText(hit.symbol) ?? hit.kind, size: 22 }),
                h('bdi', { class: 'symbol' }, nameText(hit.symbol) ?? short(hit.address)),
                h('bdi', { class: 'full-name' }, nameText(hit.name) ?? ''),
                h('span', { class: 'kind' }, hit.venue ?? hit.kind),
                h('span', { class: 'number' }, hit.volume_24h_usd === null ? '' : usd(hit.volume_24h_usd))
              )
            )
          ),
          problem !== null
            ? h('p', { class: 'note', role: 'status' }, problem.message)
            : answer !== null && hits.length === 0
              ? h('p', { class: 'note', role: 'status' }, 'Nothing matches.')
              : null
        )
      : null
  )
}
