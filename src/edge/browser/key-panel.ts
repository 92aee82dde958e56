import { sessionKey } from './session-key.ts'
import type { Container, ImmutableMap, Plugin } from './swagger.ts'

const SCHEME = 'ApiKey'

/** The owner of a key, or the text of the service's refusal. */
interface Owner {
  readonly me?: {
    readonly tenant: string
    readonly limits: { readonly rate_limit_per_minute: number }
    readonly scopes: readonly string[]
  }
  readonly refusal?: string
}

/** Requests the owner of a key from the service. */
async function identify(key: string): Promise<Owner> {
  const response = await fetch('v1/me', { headers: { 'X-API-Key': key } })
  const body = (await response.json()) as NonNullable<Owner['me']> &
    Readonly<Record<'title' | 'detail', string>>
  return response.ok ? { me: body } : { refusal: `${body.title}: ${body.detail}` }
}

/** Returns the key that a localnet on this machine offers; null elsewhere. */
async function demoKey(): Promise<string | null> {
  const response = await fetch('docs/demo-key')
  return response.ok ? ((await response.json()) as { readonly key: string | null }).key : null
}

/** The panel for entering the key, shared by the endpoints and the stream. */
export const keyPanel: Plugin = ({ React }) => {
  const { createElement: h, useEffect, useState, useSyncExternalStore } = React

  function MillraceKeyPanel({ authActions, authSelectors, specSelectors }: Container) {
    const key = useSyncExternalStore(sessionKey.subscribe, sessionKey.get)
    const [demo, setDemo] = useState<string | null>(null)
    const [typed, setTyped] = useState('')
    const [answer, setAnswer] = useState<Owner>({})

    useEffect(() => {
      demoKey().then(setDemo, () => undefined)
      return undefined
    }, [])

    useEffect(() => {
      let isCurrent = true
      setAnswer({})
      if (key === '') {
        if (authSelectors.authorized().size > 0) authActions.logout([SCHEME])
        return undefined
      }
      const schemes = specSelectors
        .specJson()
        .getIn(['components', 'securitySchemes', SCHEME]) as ImmutableMap
      authActions.authorize({ [SCHEME]: { name: SCHEME, schema: schemes.toJS(), value: key } })
      void identify(key)
        .catch((error: unknown) => ({ refusal: `The service does not answer: ${(error as Error).message}` }))
        .then((found) => isCurrent && setAnswer(found))
      return () => {
        isCurrent = false
      }
    }, [key])

    function submit(event: Event): void {
      event.preventDefault()
      if (typed.trim() !== '') sessionKey.set(typed.trim())
      setTyped('')
    }

    const { me, refusal } = answer
    return h(
      'section',
      { id: 'key', className: 'panel', 'aria-labelledby': 'key-title' },
      h('h2', { id: 'key-title' }, 'API key'),
      key === ''
        ? h(
            'form',
            { onSubmit: submit, autoComplete: 'off' },
            h('label', { htmlFor: 'key-input' }, 'Key'),
            h('input', {
              id: 'key-input',
              className: 'mono',
              value: typed,
              placeholder: 'mr_live_…',
              spellCheck: false,
              autoComplete: 'off',
              onChange: (event: Event) => setTyped((event.currentTarget as HTMLInputElement).value)
            }),
            h('button', { type: 'submit' }, 'Authorize'),
            demo !== null &&
              h(
                'button',
                { type: 'button', className: 'primary', onClick: () => sessionKey.set(demo) },
                'Authorize with the demo key'
              )
          )
        : h(
            'p',
            { className: 'row' },
            h('span', null, 'Every request below uses ', h('code', null, `${key.slice(0, 12)}…`), '.'),
            h('button', { type: 'button', onClick: () => sessionKey.set('') }, 'Forget the key')
          ),
      h(
        'p',
        { role: 'status', className: 'note' },
        me !== undefined &&
          `Tenant ${me.tenant}, ${me.limits.rate_limit_per_minute} calls a minute, scopes ${me.scopes.join(', ')}.`,
        refusal !== undefined && h('strong', { className: 'refusal' }, refusal),
        key === '' && 'The key stays in this browser tab and is forgotten when the tab is closed.'
      )
    )
  }

  return { components: { MillraceKeyPanel } }
}
