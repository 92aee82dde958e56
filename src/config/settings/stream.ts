import { integer, type Setting } from '../setting.ts'

/** Settings of the stream. */
export const STREAM_SETTINGS = {
  replayHorizonSeconds: {
    schema: integer(1, 3.2e9),
    fallback: '86400',
    meaning: 'how far `since` reaches: so long is kept what the stream sent, of a recorded source for ever'
  }
} satisfies Record<string, Setting>
