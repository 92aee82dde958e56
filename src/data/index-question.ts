import { createHash } from 'node:crypto'
import { z } from 'zod'
import { NAME_MATCHES } from './name-text.ts'

/** Maximum characters of a question that is read. A search has 100, each of which folding makes at most 18 of. */
const QUESTION_MAX = 8_000
/** Maximum characters of an answer that is read: fifty hits with the longest names that gateways share, 64 KiB each. */
const ANSWER_MAX = 50 * 2 ** 16
/** Maximum hits that are asked for: twenty times those of the longest answer. */
const LIMIT_MAX = 1_000
/** Milliseconds after which an equal question is asked anew, because names change without a block. */
const EQUAL_MS = 1_000

/** The blocks that an answer must include. */
const seen = {
  /** The newest slot of the process that asks; -1 on an empty store. */
  slot: z.int(),
  /** Number of amendments of stored blocks that it knows of. */
  amendments: z.int().nonnegative()
}

const QUESTION = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ranking'), ...seen }),
  z.object({ kind: z.literal('search'), ...seen, text: z.string(), limit: z.int().min(1).max(LIMIT_MAX) })
])

/** A question to a process that holds names and rankings: the rankings of all windows, or tokens by a folded text. */
export type IndexQuestion = z.infer<typeof QUESTION>

const names = {
  /** The slot of the answer. */
  slot: z.int(),
  tokensSearched: z.int().nonnegative(),
  isComplete: z.boolean()
}

const address = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/)

const WINDOW = z.object({
  active: z.int().nonnegative(),
  /** Mints with trades and volume in millionths of a USD, the largest first. */
  top: z.array(z.tuple([address, z.int().nonnegative(), z.string().regex(/^-?\d{1,20}$/)]))
})

const RANKING_ANSWER = z.object({
  ...names,
  windows: z.object({ '1h': WINDOW, '4h': WINDOW, '24h': WINDOW })
})

const SEARCH_ANSWER = z.object({
  ...names,
  /** Number of names that were compared. */
  compared: z.number().nonnegative(),
  hits: z.array(
    z.object({ mint: address, symbol: z.string(), name: z.string(), match: z.enum(NAME_MATCHES) })
  )
})

export type RankingAnswer = z.infer<typeof RANKING_ANSWER>
export type SearchAnswer = z.infer<typeof SEARCH_ANSWER>

/** Returns the id of a question: equal for equal questions of any process in the same second. */
export function questionId(question: IndexQuestion, nowMs: number): string {
  const { kind, slot, amendments } = question
  const about = kind === 'search' ? `${question.limit} ${question.text}` : ''
  const hash = createHash('sha256').update(about).digest('hex').slice(0, 16)
  return `${kind[0]!}-${slot}-${amendments}-${Math.floor(nowMs / EQUAL_MS)}-${hash}`
}

export const questionText = (question: IndexQuestion): string => JSON.stringify(question)

/** Returns the question of a text; null for a text that this version does not know. */
export const questionIn = (text: string): IndexQuestion | null => parsed(QUESTION, text, QUESTION_MAX)

/** Returns the ranking of an answer; null for a text that this version does not know. */
export const rankingIn = (text: string): RankingAnswer | null => parsed(RANKING_ANSWER, text, ANSWER_MAX)

/** Returns the hits of an answer; null for a text that this version does not know. */
export const hitsIn = (text: string): SearchAnswer | null => parsed(SEARCH_ANSWER, text, ANSWER_MAX)

function parsed<T>(schema: z.ZodType<T>, text: string, charactersMax: number): T | null {
  if (text.length > charactersMax) return null
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null
  } catch {
    return null
  }
}
