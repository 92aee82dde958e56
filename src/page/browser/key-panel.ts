import { h, type JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { callOf, SERVICE_URL } from './api.ts'
import { count } from './format.ts'
import { apiKey, keyRefusal } from './session.ts'
import { useStore } from './store.ts'
import { useAnswer } from './use-answer.ts'
import type { Me } from './answers.ts'

/** Returns the key that a localnet on this machine offers; null elsewhere. */
async function offeredKey(): Promise<string | null> {
  const response = await fetch(new URL('docs/demo-key', SERVICE_URL))
  return response.ok ? ((await response.json()) as { readonly key: string | null }).key : null
}

/** Asks for a key, or offers that of a localnet. */
export function KeyGate(): JSX.Element {
  const [offered, setOffered] = useState<string | null>(null)
  const [typed, setTyped] = useState('')
  useEffect(() => {
    void offeredKey().then(setOffered, () => undefined)
  }, [])
  const submit = (event: Event): void => {
    event.preventDefault()
    if (typed.trim() !== '') apiKey.set(typed.trim())
  }
  return h(
    'section',
    { class: 'panel gate', 'aria-labelledby': 'gate-title' },
    h('h1', { id: 'gate-title' }, 'Solana markets, from your own node'),
    h(
      'p',
      null,
      'Everything on this page is an answer of the API to your key. Click a number to see the slot, the transaction, the rule and the request behind it.'
    ),
    offered === null
      ? null
      : h(
          'p',
          null,
          h(
            'button',
            { type: 'button', class: 'primary large', onClick: () => apiKey.set(offered) },
            'Open with the demo key'
          ),
          h('span', { class: 'note' }, ' This is a localnet: a simulated market on a chain in this process.')
        ),
    h(
      'form',
      { onSubmit: submit, autoComplete: 'off', class: 'key-form' },
      h('label', { htmlFor: 'key' }, offered === null ? 'API key' : 'or another API key'),
      h('input', {
        id: 'key',
        class: 'mono',
        value: typed,
        placeholder: 'mr_live_…',
        spellcheck: false,
        autoComplete: 'off',
        onInput: (event: Event) => setTyped((event.currentTarget as HTMLInputElement).value)
      }),
      h('button', { type: 'submit' }, 'Open')
    ),
    h('p', { class: 'note' }, 'The key stays in this browser tab and is forgotten when the tab is closed.')
  )
}

/** The key in use, its rest of the quota, and the way to forget it. */
export function KeyBar(): JSX.Element | null {
  const key = useStore(apiKey)
  const refusal = useStore(keyRefusal)
  const { answer, problem } = useAnswer<Me>(key === '' ? null : callOf('/v1/me'), 15_000)
  if (key === '') return null
  const me = answer?.body
  const fault = refusal ?? (problem?.status === 401 || problem?.status === 403 ? problem.message : null)
  return h(
    'div',
    { class: 'key-bar' },
    fault === null
      ? h(
          'span',
          {
            title:
              me === undefined
                ? ''
                : `${count(me.usage.remaining)} of ${count(me.limits.rate_limit_per_minute)} calls left this minute`
          },
          me?.tenant ?? ''
        )
      : h('strong', { class: 'refusal', role: 'alert' }, fault),
    h(
      'button',
      { type: 'button', class: 'plain', onClick: () => apiKey.set('') },
      fault === null ? 'Leave' : 'Use another key'
    )
  )
}
