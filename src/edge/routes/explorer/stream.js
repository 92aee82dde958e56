import { sessionKey } from './session-key.js'
import { StreamLog } from './stream-log.js'

const WSOL = 'So11111111111111111111111111111111111111112'
/** Example values for channel parameters. A pool has to be found first. */
const TRIED = { '<mint>': WSOL, '<venue>': 'pumpfun' }

const nameOf = ({ $ref }) => $ref.split('/').at(-1)
const pretty = (value) => JSON.stringify(value, null, 2)

/** The section about the stream, built from its AsyncAPI document, with a client for trying it. */
export const stream =
  (document) =>
  ({ React }) => {
    const { createElement: h, Fragment, useMemo, useState, useSyncExternalStore } = React
    const log = new StreamLog()
    const { schemas, messages } = document.components

    /** Returns a schema with its references resolved. */
    function resolved(schema) {
      if (Array.isArray(schema)) return schema.map(resolved)
      if (typeof schema !== 'object' || schema === null) return schema
      if (schema.$ref !== undefined) return resolved(schemas[nameOf(schema)])
      return Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, resolved(value)]))
    }

    const operations = Object.values(document.operations)
    const sent = operations
      .filter(({ action }) => action === 'receive')
      .flatMap((one) => one.messages.map(nameOf))
    const events = document.operations.tell.messages.map(nameOf)
    const answers = Object.keys(document.channels.stream.messages).filter(
      (name) => !sent.includes(name) && !events.includes(name)
    )
    const channelOf = (name) => messages[name].title.replace('Event of ', '')

    function Line({ direction, message }) {
      const { type, channel, cursor } = message
      const what =
        direction === 'received' ? type : direction === 'sent' ? Object.keys(message)[0] : 'connection'
      const kind = message.data?.event
      return h(
        'details',
        { className: `line ${direction}` },
        h(
          'summary',
          null,
          h('strong', null, direction === 'received' ? '← ' : direction === 'sent' ? '→ ' : '· ', what),
          ` ${[channel, kind, cursor].filter((part) => part !== undefined).join(' ')}`,
          direction === 'note' && (message.refused ?? `closed with ${message.closed} ${message.reason}`)
        ),
        h('pre', { tabIndex: 0 }, pretty(message))
      )
    }

    function TryIt({ channels, setChannels }) {
      const key = useSyncExternalStore(sessionKey.subscribe, sessionKey.get)
      const { state, received, lines } = useSyncExternalStore(log.subscribe, () => log.view)
      const [since, setSince] = useState('')
      const names = channels.split(/[\s,]+/).filter((name) => name !== '')
      const canSend = key !== '' && names.length > 0

      function subscribe(event) {
        event.preventDefault()
        log.send({ subscribe: names, ...(since.trim() === '' ? {} : { since: since.trim() }) }, key)
      }

      const button = (text, disabled, onClick) => h('button', { type: 'button', disabled, onClick }, text)
      return h(
        'div',
        { className: 'panel', id: 'try-stream' },
        h('h3', null, 'Try it'),
        h(
          'form',
          { className: 'fields', onSubmit: subscribe },
          h('label', { htmlFor: 'channels' }, 'Channels'),
          h('input', {
            id: 'channels',
            className: 'mono',
            value: channels,
            spellCheck: false,
            onChange: (event) => setChannels(event.target.value)
          }),
          h('label', { htmlFor: 'since' }, 'Since'),
          h('input', {
            id: 'since',
            className: 'mono',
            value: since,
            inputMode: 'numeric',
            placeholder: 'a cursor; empty for live events',
            onChange: (event) => setSince(event.target.value)
          }),
          h(
            'div',
            { className: 'row' },
            h('button', { type: 'submit', className: 'primary', disabled: !canSend }, 'Subscribe'),
            button('Unsubscribe', state !== 'open' || names.length === 0, () =>
              log.send({ unsubscribe: names }, key)
            ),
            button('Disconnect', state === 'closed', () => log.close()),
            button('Clear', lines.length === 0, () => log.clear())
          )
        ),
        h(
          'p',
          { role: 'status', className: 'note' },
          key === '' ? 'Enter a key above first. ' : '',
          { open: 'Connected', connecting: 'Connecting', closed: 'Not connected' }[state],
          `; ${received} messages received`,
          received > lines.length ? `, the newest ${lines.length} are below.` : '.'
        ),
        h(
          'div',
          { className: 'log', role: 'region', 'aria-label': 'Messages', tabIndex: 0 },
          ...lines.map((line) => h(Line, { key: line.number, ...line }))
        )
      )
    }

    function Message({ name, Schema, getComponent }) {
      const { title, summary, examples, payload } = messages[name]
      const Markdown = getComponent('Markdown', true)
      const Details = getComponent('MillraceDetails')
      return h(Details, {
        className: 'message',
        summary: title,
        content: () =>
          h(
            'div',
            { className: 'swagger-ui' },
            h(Markdown, { source: summary }),
            ...examples.map(({ payload }, index) => h('pre', { key: index, tabIndex: 0 }, pretty(payload))),
            h(Schema, { name: 'Fields', schema: resolved(payload) })
          )
      })
    }

    function MillraceStream({ fn, getComponent }) {
      const [channels, setChannels] = useState(`trades:${WSOL}`)
      const Markdown = getComponent('Markdown', true)
      const Details = getComponent('MillraceDetails')
      const Schema = useMemo(
        () =>
          getComponent('withJSONSchema202012SystemContext')(getComponent('JSONSchema202012'), {
            config: { defaultExpandedLevels: 1 },
            fn: {
              getProperties: fn.jsonSchema202012.getProperties,
              isExpandable: fn.jsonSchema202012.isExpandable
            }
          }),
        []
      )
      const list = (title, names) =>
        h(
          Fragment,
          null,
          h('h3', null, title),
          ...names.map((name) => h(Message, { key: name, name, Schema, getComponent }))
        )
      const markdown = (summary, source) =>
        h(Details, { summary, content: () => h('div', { className: 'swagger-ui' }, h(Markdown, { source })) })
      const [lead, ...more] = document.info.description.split('\n\n')

      return h(
        'section',
        { id: 'stream', tabIndex: -1, 'aria-labelledby': 'stream-title' },
        h('h2', { id: 'stream-title' }, 'Stream'),
        h('p', null, h('code', null, document.channels.stream.address), ` is a WebSocket. ${lead}`),
        markdown('How to resume after a lost connection', more.join('\n\n')),
        h(
          'table',
          { className: 'channels' },
          h(
            'thead',
            null,
            h(
              'tr',
              null,
              ...['Channel', 'Sends', 'Try'].map((name) => h('th', { key: name, scope: 'col' }, name))
            )
          ),
          h(
            'tbody',
            null,
            ...events.map((name) =>
              h(
                'tr',
                { key: name },
                h('td', null, h('code', null, channelOf(name))),
                h('td', null, messages[name].summary),
                h(
                  'td',
                  null,
                  h(
                    'button',
                    {
                      type: 'button',
                      'aria-label': `Use ${channelOf(name)}`,
                      onClick: () =>
                        setChannels(channelOf(name).replace(/<\w+>/, (parameter) => TRIED[parameter] ?? ''))
                    },
                    'Use'
                  )
                )
              )
            )
          )
        ),
        h(TryIt, { channels, setChannels }),
        list('Messages that a client sends', sent),
        list('Messages that the service sends', answers),
        list('Events', events),
        markdown('Errors, refused handshakes and close codes', document.channels.stream.description)
      )
    }

    return { components: { MillraceStream } }
  }
