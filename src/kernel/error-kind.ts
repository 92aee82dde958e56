/** Texts of a problem's page: its cause, its remedy, and an example of `detail`. */
interface ErrorTexts {
  readonly meaning: string
  readonly remedy: string
  readonly example: string
}

/** Contents of the declaration of an error. */
interface DeclaredKind extends ErrorTexts {
  /** HTTP status. */
  readonly status: number
  /** Code on the wire, which never changes its meaning. */
  readonly code: string
  readonly title: string
  /** Whether a retry of the request can succeed. */
  readonly retryable: boolean
}

/** A kind of intended errors. */
export interface ErrorKind extends DeclaredKind {
  /** Name in messages and in the log. */
  readonly name: string
}

/** Declares an error that every retry of the request meets too. */
export const final = (status: number, code: string, title: string, texts: ErrorTexts): DeclaredKind => ({
  ...{ status, code, title, retryable: false },
  ...texts
})

/** Declares a temporary error. */
export const retryable = (status: number, code: string, title: string, texts: ErrorTexts): DeclaredKind => ({
  ...{ status, code, title, retryable: true },
  ...texts
})

/** Returns the declared errors of a room, named by their keys. The first of those that share a code has its page. */
export function errorKinds<Name extends string>(
  declared: Readonly<Record<Name, DeclaredKind>>
): Readonly<Record<Name, ErrorKind>> {
  const kinds = Object.entries<DeclaredKind>(declared).map(([name, kind]): [string, ErrorKind] => [
    name,
    Object.freeze({ name, ...kind })
  ])
  return Object.freeze(Object.fromEntries(kinds)) as Record<Name, ErrorKind>
}
