import { textFrame, textFrameHead } from '../../stream/frames.ts'

/** Texts up to this size are copied next to their frame head; longer ones are not copied. Chosen: one memory page. */
export const COPIED_BYTES_MAX = 4_096

/**
 * A WebSocket frame for clients. It is written in one piece, because control frames may be written between two
 * writes.
 */
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
