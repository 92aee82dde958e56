import { integer, type Settings, type Values } from '../kernel/config/setting.ts'

/** Settings of the stream. */
export const STREAM_SETTINGS = {
  replayHorizonSeconds: {
    schema: integer(1, 3.2e9),
    fallback: '86400',
    meaning: 'seconds of events that `since` can reach back; unlimited for a recorded source'
  }
} satisfies Settings

declare module '../kernel/config/config.ts' {
  interface Config extends Values<typeof STREAM_SETTINGS> {}
}
