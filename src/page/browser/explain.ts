import { h, type ComponentChildren, type JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { curlOf, type Answer, type Call } from './api.ts'
import { CopyButton } from './elements.ts'
import { short } from './format.ts'
import { linkTo } from './place.ts'
import { ruleOf, type Rule } from './rules.ts'
import { Store, useStore } from './store.ts'

/** The place of a number in an answer: all that explains it. */
export interface Origin {
  readonly call: Call
  /** Path of the field in the answer, as `data[].price_usd`. */
  readonly field: string
  readonly value: unknown
  readonly receivedAtMs: number
  /** Slot and transaction that the number comes from; absent if it is a sum of many. */
  readonly slot?: number | null
  readonly signature?: string | null
  /** The rule, if this page computes the number from the answer; absent if the API's document states it. */
  readonly rule?: string
}

type Facts = Pick<Origin, 'slot' | 'signature' | 'rule'>

/** Returns a function that names the origins of fields of an answer. */
export function originsOf<T>(answer: Answer<T>) {
  const { call, receivedAtMs } = answer
  return (field: string, value: unknown, facts: Facts = {}): Origin => ({
    call,
    field,
    value,
    receivedAtMs,
    ...facts
  })
}

const explained = new Store<Origin | null>(null)

interface ValueProps {
  readonly from: Origin
  readonly children?: ComponentChildren
  readonly class?: string
  /** Whether the keyboard reaches it: in long tables, one value of each row suffices. */
  readonly isStop?: boolean
}

/** A number that explains itself when it is clicked. */
export function Value({ from, children, class: name = '', isStop = true }: ValueProps): JSX.Element {
  return h(
    'button',
    {
      type: 'button',
      class: `value ${name}`,
      title: 'How is this known?',
      tabIndex: isStop ? 0 : -1,
      onClick: (event: MouseEvent) => {
        event.stopPropagation()
        explained.set(from)
      }
    },
    children
  )
}

/** The dialog that explains the chosen number. */
export function Explanation(): JSX.Element {
  const origin = useStore(explained)
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (origin !== null) dialog.current?.showModal()
  }, [origin])
  return h(
    'dialog',
    {
      ref: dialog,
      class: 'explanation',
      'aria-label': 'How this number is known',
      onClose: () => explained.set(null),
      onClick: (event: MouseEvent) => event.target === dialog.current && dialog.current?.close()
    },
    origin === null ? null : h(Explained, { origin, close: () => dialog.current?.close() })
  )
}

function Explained({ origin, close }: { readonly origin: Origin; readonly close: () => void }): JSX.Element {
  const { call, field, value, slot, signature, receivedAtMs, rule: ownRule } = origin
  const [rule, setRule] = useState<Rule | null>(null)
  useEffect(() => {
    let isShown = true
    setRule(null)
    void ruleOf(call, field).then((found) => isShown && setRule(found))
    return () => {
      isShown = false
    }
  }, [origin])
  const request = curlOf(call)
  return h(
    'div',
    null,
    h(
      'header',
      null,
      h('h2', null, h('code', null, field)),
      h('button', { type: 'button', class: 'plain', onClick: close, 'aria-label': 'Close' }, '×')
    ),
    h('p', { class: 'exact' }, valueText(value)),
    h(
      'dl',
      null,
      h('dt', null, 'Rule'),
      h(
        'dd',
        null,
        ownRule ??
          (rule === null
            ? 'Reading the API’s document …'
            : (rule.field ?? 'The document has no sentence about this field.'))
      ),
      slot === undefined || slot === null
        ? null
        : [h('dt', null, 'Slot'), h('dd', null, h('code', null, slot))],
      signature === undefined || signature === null
        ? null
        : [
            h('dt', null, 'Transaction'),
            h(
              'dd',
              null,
              h('a', { href: linkTo('tx', signature), onClick: close }, h('code', null, short(signature)))
            )
          ],
      slot === undefined && signature === undefined && rule?.operation != null
        ? [h('dt', null, 'Counted from'), h('dd', null, rule.operation)]
        : null,
      h('dt', null, 'Received'),
      h(
        'dd',
        null,
        `${new Date(receivedAtMs).toISOString().slice(0, 19).replace('T', ' ')} UTC, by the clock of the service`
      ),
      h('dt', null, 'Request'),
      h(
        'dd',
        { class: 'request' },
        h('code', { tabIndex: 0 }, request),
        h(CopyButton, { text: request, name: 'Copy the request' })
      )
    ),
    h(
      'p',
      { class: 'note' },
      h('a', { href: `docs#/${rule?.anchor ?? ''}` }, 'This request in the API reference')
    )
  )
}

function valueText(value: unknown): string {
  if (typeof value === 'number') {
    // A tiny price in full digits; the exponent of JavaScript's own text is hard to read.
    return Math.abs(value) < 1e-6 && value !== 0 ? value.toFixed(20).replace(/0+$/, '') : String(value)
  }
  return typeof value === 'string' ? value : JSON.stringify(value)
}
