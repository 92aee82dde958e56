/** Bytes of a packed block in one row. The largest blocks have some MB, and a server accepts at most 16 MB at once. */
const PIECE_BYTES = 512 * 2 ** 10
/** Rows of an answer, each of a piece. */
export const PIECES_PER_READ = 8

export interface Piece {
  readonly piece: number
  /** Number of pieces of the block. */
  readonly pieces: number
  readonly bytes: Buffer
}

/** The pieces of a packed block in their order, each for a row of its own; not copied. */
export function piecesOf(packed: Buffer): Piece[] {
  const pieces = Math.ceil(packed.length / PIECE_BYTES)
  return Array.from({ length: pieces }, (_, piece) => ({
    piece,
    pieces,
    bytes: packed.subarray(piece * PIECE_BYTES, (piece + 1) * PIECE_BYTES)
  }))
}
