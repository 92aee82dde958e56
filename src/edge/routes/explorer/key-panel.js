import { sessionKey } from './session-key.js'

const SCHEME = 'ApiKey'

/** Requests the owner of a key from the service; returns the refusal's text for a bad key. */
async function identify(key) {
  const response = await fetch('/v1/me', { headers: { 'X-API-Key': key } })
  const body = await response.json()
  return response.ok ? { me: body } : { refusal: `${body.title}: ${body.detail}` }
}

/** Returns the key that a localnet on this machine offers; null elsewhere. */
async function demoKey() {
  const response = await fetch('/docs/demo-key')
  return response.ok ? (await response.json()).key : null
}

/** The panel for entering the key, shared by the endpoints and the stream. */
export const keyPanel = ({ React }) => {
  const { createElement: h, useEffect, useState, useSyncExternalStore } = React

  function MillraceKeyPanel({ authActions, authSelectors, specSelectors }) {
    const key = useSyncExternalStore(sessionKey.subscribe, sessionKey.get)
    const [demo, setDemo] = useState(null)
    const [typed, setTyped] = useState('')
    const [answer, setAnswer] = useState({})

    useEffect(() => {
      demoKey().then(setDemo, () => undefined)
    }, [])

    useEffect(() => {
      let isCurrent = true
      setAnswer({})
      if (key === '') {
        if (authSelectors.authorized().size > 0) authActions.logout([SCHEME])
        return undefined
      }
      const schema = specSelectors.specJson().getIn(['components', 'securitySchemes', SCHEME]).toJS()
      authActions.authorize({ [SCHEME]: { name: SCHEME, schema, value: key } })
      identify(key)
        .catch((error) => ({ refusal: `The service does not answer: ${error.message}` }))
        .then((found) => isCurrent && setAnswer(found))
      return () => {
        isCurrent = false
      }
    }, [key])

    function submit(event) {
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
              onChange: (event) => setTyped(event.target.value)
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
