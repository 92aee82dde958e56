import { QUESTIONS_MAX, type SharedQuestions, type StoredQuestion } from '../port/questions.ts'
import type { CqlClient, CqlRow } from './client.ts'

/** Milliseconds of a partition of questions. */
const PARTITION_MS = 2_000
/** Bytes of an id and its cells on the wire, estimated. */
const ID_BYTES = 80

const PUT = 'INSERT INTO index_questions (seconds, id, question) VALUES (?, ?, ?)'
const SELECT_RECENT = `SELECT id, question FROM index_questions WHERE seconds IN (?, ?, ?) LIMIT ${QUESTIONS_MAX}`
const ANSWER = 'INSERT INTO index_answers (id, answer) VALUES (?, ?)'
const SELECT_ANSWER = 'SELECT answer FROM index_answers WHERE id = ?'

type Client = Pick<CqlClient, 'now' | 'read' | 'write'>

/** Questions and answers in tables whose rows expire. */
export class CqlQuestions implements SharedQuestions {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  async put({ id, text }: StoredQuestion): Promise<void> {
    const params = [BigInt(this.#partition), id, text]
    await this.#client.write([{ statement: PUT, params, bytes: ID_BYTES + text.length }])
  }

  async recent(): Promise<readonly StoredQuestion[]> {
    const now = this.#partition
    // The next partition has questions of processes whose clocks are ahead.
    const read = await this.#client.read(SELECT_RECENT, [now - 1, now, now + 1].map(BigInt))
    return read.map(questionOf)
  }

  async answer(id: string, text: string): Promise<void> {
    await this.#client.write([{ statement: ANSWER, params: [id, text], bytes: ID_BYTES + text.length }])
  }

  async read(id: string): Promise<string | null> {
    const [row] = await this.#client.read(SELECT_ANSWER, [id])
    return (row?.['answer'] as string | null | undefined) ?? null
  }

  get #partition(): number {
    return Math.floor(this.#client.now() / PARTITION_MS)
  }
}

const questionOf = (row: CqlRow): StoredQuestion => ({
  id: row['id'] as string,
  text: row['question'] as string
})
