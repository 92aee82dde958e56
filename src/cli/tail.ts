import { parseArgs } from 'node:util'
import { connect, StreamError, type Channel, type Notice } from '../client/client.ts'
import { readConfig } from '../config.ts'
import { readCursor } from '../market/cursor.ts'
import { channelOf, isFault } from '../stream/channel.ts'
import type { Command } from './command.ts'
import { eventLine, gapLine } from './event-line.ts'
import { urlHost } from './url-host.ts'

const USAGE = 'usage: millrace tail CHANNEL … [--since CURSOR] [--json] [--url URL] [--key KEY]'
const FLAGS = {
  since: { type: 'string' },
  json: { type: 'boolean' },
  url: { type: 'string' },
  key: { type: 'string' },
  host: { type: 'string' },
  port: { type: 'string' }
} as const
/** Settings among the flags: where the service is, and with which key. */
const SETTING_FLAGS = ['key', 'host', 'port'] as const

/** An argument that cannot be meant. */
class BadUsage extends Error {}

/**
 * Prints events of channels as they come, a line each; with `--json` a JSON object. It connects again by itself; gaps,
 * lost connections and, in the end, where to go on are told on standard error. Ends with 0 when it is interrupted, with
 * 1 when the service refuses the key.
 */
export const tail: Command = async ({ args, stdout, stderr, interrupted }) => {
  const complain = (line: string): void => stderr(`millrace: ${line}`)
  const asked = understood(args)
  if (asked instanceof BadUsage) {
    for (const line of asked.message.split('\n')) complain(line)
    complain(USAGE)
    return 2
  }
  const { url, key, channels, since, isJson } = asked
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
      else stdout(isJson ? JSON.stringify(item) : eventLine(item))
    }
    return 0
  } catch (error) {
    if (!(error instanceof StreamError)) throw error
    complain(`${error.code}: ${error.message}`)
    return 1
  } finally {
    interrupted.removeEventListener('abort', end)
    if (stream.cursor !== null) complain(`go on with --since ${stream.cursor}`)
  }
}

function understood(args: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options: FLAGS, allowPositionals: true })
    const reading = readConfig(
      SETTING_FLAGS.flatMap((name) => (values[name] === undefined ? [] : [`--${name}`, values[name]]))
    )
    if (reading.kind === 'invalid') return new BadUsage(reading.problems.join('\n'))
    const { key, host, port } = reading.config
    if (key === null) return new BadUsage('name an API key with the scope stream: --key, or MILLRACE_KEY')
    const url = values.url ?? `http://${urlHost(host)}:${port}`
    if (!/^(https?|wss?):/.test(url) || !URL.canParse(url)) return new BadUsage(`${url} is no URL`)
    if (positionals.length === 0) return new BadUsage('tail takes channels, as in launches or trades:MINT')
    const faults = positionals.map(channelOf).filter(isFault)
    if (faults.length > 0) return new BadUsage(faults.map(({ message }) => message).join('\n'))
    const since = values.since === undefined ? null : readCursor(values.since)
    if (values.since !== undefined && since === null) return new BadUsage(`${values.since} is no cursor`)
    return { url, key, channels: positionals as Channel[], since, isJson: values.json === true }
  } catch (error) {
    return new BadUsage((error as Error).message)
  }
}
