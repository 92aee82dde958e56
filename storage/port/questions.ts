/** Milliseconds for which questions and their answers are stored at least: ten times as long as a process waits for one. */
export const QUESTION_MS = 10_000
/** Maximum questions that one read returns. Far more than a process can answer before those who ask give up. */
export const QUESTIONS_MAX = 1_000

/** A question of a process to those that hold the names and rankings of all mints. */
export interface StoredQuestion {
  /** Letters, digits, `-` and `_`. Equal questions have equal ids. */
  readonly id: string
  readonly text: string
}

/**
 * Questions and answers between the processes of a service. Both are stored for a short time, and may be written again: a
 * question has one answer, which any process may give. All calls reject while the store is unavailable.
 */
export interface SharedQuestions {
  put(question: StoredQuestion): Promise<void>
  /** Returns the questions of the last seconds, at most `QUESTIONS_MAX`. The clocks of the processes must agree within a second. */
  recent(): Promise<readonly StoredQuestion[]>
  answer(id: string, text: string): Promise<void>
  /** Returns the answer of a question; null if it has none. */
  read(id: string): Promise<string | null>
}
