import { textFrame, textFrameHead } from '../../stream/frames.ts'

/** Maximum size of texts that are copied next to their frame head: one memory page. */
export const COPIED_BYTES_MAX = 4_096

/** A WebSocket frame for clients. It is written in one call, because a control frame may be written after any call. */
export interface ClientFrame {
  readonly pieces: readonly Buffer[]
  readonly size: number
  readonly isNotification: boolean
}

/** Returns the frame of a text for one client. */
export function answerFrame(text: Buffer): ClientFrame {
  if (text.length > COPIED_BYTES_MAX) return clientFrame([textFrameHead(text.length), text], false)
  const { frame, at } = textFrame(text.length)
  text.copy(frame, at)
  return clientFrame([frame], false)
}

export const clientFrame = (pieces: readonly Buffer[], isNotification: boolean): ClientFrame => ({
  pieces,
  size: pieces.reduce((sum, { length }) => sum + length, 0),
  isNotification
})
