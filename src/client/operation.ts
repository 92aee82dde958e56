/** An operation of the REST API, as far as the client needs it to send a request. */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** With parameters as `{mint}`. */
  readonly path: string
  /** Place of the object that follows the parameters of the path; absent without one. */
  readonly input?: 'query' | 'body'
  /** Whether the answer is a page of a list. */
  readonly isList?: true
  /** Whether the operation takes an `Idempotency-Key`. */
  readonly isIdempotent?: true
  /** Whether the service recognizes a repeated change by its content, so that it needs no `Idempotency-Key`. */
  readonly isRecognized?: true
  /** Statuses from 400 on that have the body of an answer, as 503 of the health. */
  readonly answersAt?: readonly number[]
  /** Parameters of the query that are repeated for each value; values of all others are joined by commas. */
  readonly repeated?: readonly string[]
}
