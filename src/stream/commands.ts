import { command, type Commands } from '../kernel/cli/command.ts'

/** Commands of the stream. */
export const STREAM_COMMANDS: Commands = {
  tail: command({
    position: 20,
    summary: 'Prints events of the stream as they arrive, one line each.',
    details:
      'It reconnects automatically. Gaps, lost connections and the cursor to resume from are printed to standard error.',
    operands: 'CHANNEL …',
    options: {
      since: {
        value: 'CURSOR',
        meaning: 'start after the event with this cursor; default: with the next event'
      },
      json: { meaning: 'print each event as a JSON object' },
      url: { value: 'URL', meaning: 'the service; default: http://HOST:PORT of the settings' }
    },
    settings: ['key', 'host', 'port'],
    examples: ['millrace tail launches trades:So11111111111111111111111111111111111111112 --key $KEY'],
    run: async (invocation) => (await import('./commands/tail.ts')).tail(invocation)
  })
}
