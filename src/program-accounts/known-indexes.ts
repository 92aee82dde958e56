import type { IndexedRange } from '../../storage/port.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../chain/token-movement.ts'

/** The mint and the owner of a token account. */
const TOKEN_ACCOUNT: readonly IndexedRange[] = [
  { offset: 0, length: 32 },
  { offset: 32, length: 32 }
]

/** Returns the ranges that are worth an index in the accounts of a well-known program; empty for other programs. */
export const knownIndexes = (program: string): readonly IndexedRange[] =>
  program === TOKEN_PROGRAM || program === TOKEN_2022_PROGRAM ? TOKEN_ACCOUNT : []
