import { withCode, type DetailsProps } from './parts.ts'
import { sessionKey } from './session-key.ts'
import { StreamLog, type LogLine } from './stream-log.ts'
import type { Container, LibraryView, Plugin, View } from './swagger.ts'

const WSOL = 'So11111111111111111111111111111111111111112'
/** Example values for channel parameters. A pool has to be found first. */
const TRIED: Readonly<Record<string, string>> = { '<mint>': WSOL, '<venue>': 'pumpfun' }

interface Reference {
  readonly $ref: string
}

interface StreamMessage {
  readonly title: string
  readonly summary: string
  readonly payload: unknown
  readonly examples: readonly { readonly payload: unknown }[]
}

/** The parts of the AsyncAPI document that the section shows. */
export interface StreamDocument {
  readonly info: { readonly description: string }
  readonly channels: {
    readonly stream: {
      readonly address: string
      readonly description: string
      readonly messages: Readonly<Record<string, unknown>>
    }
  }
  readonly operations: Readonly<
    Record<string, { readonly action: string; readonly messages: readonly Reference[] }>
  >
  readonly components: {
    readonly schemas: Readonly<Record<string, unknown>>
    readonly messages: Readonly<Record<string, StreamMessage>>
  }
}

/** Properties of a component that shows schemas. */
interface SchemaContainer extends Container {
  readonly fn: {
    readonly jsonSchema202012: { readonly getProperties: unknown; readonly isExpandable: unknown }
  }
}

type SchemaContext = (view: LibraryView, options: object) => LibraryView

const nameOf = ({ $ref }: Reference): string => $ref.split('/').at(-1)!
const pretty = (value: unknown): string => JSON.stringify(value, null, 2)

/** The section about the stream, built from its AsyncAPI document, with a client for trying it. */
export const stream =
  (document: StreamDocument): Plugin =>
  ({ React }) => {
    const { createElement: h, Fragment, useMemo, useState, useSyncExternalStore } = React
    const log = new StreamLog()
    const { schemas, messages } = document.components

    /** Returns a schema with its references resolved. */
    function resolved(schema: unknown): unknown {
      if (Array.isArray(schema)) return schema.map(resolved)
      if (typeof schema !== 'object' || schema === null) return schema
      if ('$ref' in schema) return resolved(schemas[nameOf(schema as Reference)])
      return Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, resolved(value)]))
    }

    const operations = Object.values(document.operations)
    const sent = operations
      .filter(({ action }) => action === 'receive')
      .flatMap((one) => one.messages.map(nameOf))
    const events = document.operations['tell']!.messages.map(nameOf)
    const answers = Object.keys(document.channels.stream.messages).filter(
      (name) => !sent.includes(name) && !events.includes(name)
    )
    const channelOf = (name: string): string => messages[name]!.title.replace('Event of ', '')

    function Line({ direction, message }: LogLine) {
      const { type, channel, cursor, data, refused, closed, reason } = message
      const what =
        direction === 'received'
          ? String(type)
          : direction === 'sent'
            ? Object.keys(message)[0]
            : 'connection'
      const kind = (data as { readonly event?: string } | undefined)?.event
      return h(
        'details',
        { className: `line ${direction}` },
        h(
          'summary',
          null,
          h('strong', null, direction === 'received' ? '← ' : direction === 'sent' ? '→ ' : '· ', what),
          ` ${[channel, kind, cursor]
            .filter((part) => part !== undefined)
            .map(String)
            .join(' ')}`,
          direction === 'note' &&
            (typeof refused === 'string' ? refused : `closed with ${String(closed)} ${String(reason)}`)
        ),
        h('pre', { tabIndex: 0 }, pretty(message))
      )
    }

    interface TryProps {
      readonly channels: string
      readonly setChannels: (channels: string) => void
    }

    function TryIt({ channels, setChannels }: TryProps) {
      const key = useSyncExternalStore(sessionKey.subscribe, sessionKey.get)
      const { state, received, lines } = useSyncExternalStore(log.subscribe, () => log.view)
      const [since, setSince] = useState('')
      const names = channels.split(/[\s,]+/).filter((name) => name !== '')
      const canSend = key !== '' && names.length > 0

      function subscribe(event: Event): void {
        event.preventDefault()
        log.send({ subscribe: names, ...(since.trim() === '' ? {} : { since: since.trim() }) }, key)
      }

      const button = (text: string, disabled: boolean, onClick: () => void) =>
        h('button', { type: 'button', disabled, onClick }, text)
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
            onChange: (event: Event) => setChannels((event.currentTarget as HTMLInputElement).value)
          }),
          h('label', { htmlFor: 'since' }, 'Since'),
          h('input', {
            id: 'since',
            className: 'mono',
            value: since,
            inputMode: 'numeric',
            placeholder: 'a cursor; empty for live events',
            onChange: (event: Event) => setSince((event.currentTarget as HTMLInputElement).value)
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

    interface MessageProps extends Pick<Container, 'getComponent'> {
      readonly name: string
      readonly Schema: LibraryView
    }

    function Message({ name, Schema, getComponent }: MessageProps) {
      const { title, summary, examples, payload } = messages[name]!
      const Markdown = getComponent('Markdown', true)
      const Details = getComponent<View<DetailsProps>>('MillraceDetails')
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

    function MillraceStream({ fn, getComponent }: SchemaContainer) {
      const [channels, setChannels] = useState(`trades:${WSOL}`)
      const Markdown = getComponent('Markdown', true)
      const Details = getComponent<View<DetailsProps>>('MillraceDetails')
      const Schema = useMemo(
        () =>
          getComponent<SchemaContext>('withJSONSchema202012SystemContext')(getComponent('JSONSchema202012'), {
            config: { defaultExpandedLevels: 1 },
            fn: {
              getProperties: fn.jsonSchema202012.getProperties,
              isExpandable: fn.jsonSchema202012.isExpandable
            }
          }),
        []
      )
      const list = (title: string, names: readonly string[]) =>
        h(
          Fragment,
          null,
          h('h3', null, title),
          ...names.map((name) => h(Message, { key: name, name, Schema, getComponent }))
        )
      const markdown = (summary: string, source: string) =>
        h(Details, { summary, content: () => h('div', { className: 'swagger-ui' }, h(Markdown, { source })) })
      const [lead, ...more] = document.info.description.split('\n\n')

      return h(
        'section',
        { id: 'stream', tabIndex: -1, 'aria-labelledby': 'stream-title' },
        h('h2', { id: 'stream-title' }, 'Stream'),
        h(
          'p',
          null,
          h('code', null, document.channels.stream.address),
          ' is a WebSocket. ',
          ...withCode(React, lead ?? '')
        ),
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
                h('td', null, ...withCode(React, messages[name]!.summary)),
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
