import type { Channel } from '../../client/events.ts'
import type { Notice } from '../../client/options.ts'
import { connect } from '../../client/stream-client.ts'
import { StreamError } from '../../client/stream-error.ts'
import { readCursor } from '../../market/cursor.ts'
import { isFault, streamChannelOf } from '../channel.ts'
import { BadUsage, type Invocation } from '../../kernel/cli/command.ts'
import { eventLine, gapLine } from './event-line.ts'
import { urlHost } from '../../kernel/cli/url-host.ts'

interface TailOptions {
  readonly since?: string | undefined
  readonly json?: true | undefined
  readonly url?: string | undefined
}

/**
 * Prints events of channels as they arrive, one line each; with `--json` as JSON objects. Reconnects by itself; gaps,
 * lost connections and, at the end, the cursor to resume from go to standard error. Resolves with 0 when interrupted,
 * with 1 if the service refuses the key.
 */
export async function tail(invocation: Invocation<TailOptions>): Promise<number> {
  const { options, stdout, stderr, interrupted } = invocation
  const complain = (line: string): void => stderr(`millrace: ${line}`)
  const { url, key, channels, since } = understood(invocation)
  const onNotice = ({ kind, message }: Notice): void => {
    if (kind !== 'connected') complain(message)
  }
  const client = connect({ url, key, onNotice })
  const stream = client.subscribe(channels, { since })
  const end = (): void => stream.close()
  if (interrupted.aborted) end()
  interrupted.addEventListener('abort', end, { once: true })
  try {
    for await (const item of stream) {
      if (item.kind === 'gap') complain(gapLine(item))
      else stdout(options.json === true ? JSON.stringify(item) : eventLine(item))
    }
    return 0
  } catch (error) {
    if (!(error instanceof StreamError)) throw error
    complain(`${error.code}: ${error.message}`)
    return 1
  } finally {
    interrupted.removeEventListener('abort', end)
    if (stream.cursor !== null) complain(`resume with --since ${stream.cursor}`)
  }
}

/** Returns the connection settings and channels of the arguments. Throws BadUsage. */
function understood({ config, options, operands }: Invocation<TailOptions>) {
  const { key, host, port } = config
  if (key === null) throw new BadUsage('set an API key with the scope stream: --key, or MILLRACE_KEY')
  const url = options.url ?? `http://${urlHost(host)}:${port}`
  if (!/^(https?|wss?):/.test(url) || !URL.canParse(url)) throw new BadUsage(`${url} is not a URL`)
  const faults = operands.map(streamChannelOf).filter(isFault)
  if (faults.length > 0) throw new BadUsage(faults.map(({ message }) => message).join('\n'))
  const since = options.since === undefined ? null : readCursor(options.since)
  if (options.since !== undefined && since === null)
    throw new BadUsage(`${options.since} is not a cursor: use the decimal cursor of an event`)
  return { url, key, channels: operands as Channel[], since }
}
