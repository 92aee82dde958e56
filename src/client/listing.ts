/** A page of a list, as the service answers it. */
export interface Page {
  readonly data: readonly unknown[]
  /** The `after` of the next page; null on the last one. */
  readonly nextCursor: string | null
}

/**
 * A list. `await` requests its first page; `for await` yields all of its rows, and requests each page when it is needed.
 * `limit` of the query is the number of rows of a page.
 */
export class Listing<P extends Page = Page> implements Promise<P>, AsyncIterable<P['data'][number]> {
  readonly [Symbol.toStringTag] = 'Listing'
  readonly #request: (after: string | null) => Promise<P>
  #first: Promise<P> | null = null

  /** Takes the request of a page; null requests the first one. */
  constructor(request: (after: string | null) => Promise<P>) {
    this.#request = request
  }

  then<Value = P, Refused = never>(
    done?: ((page: P) => Value | PromiseLike<Value>) | null,
    failed?: ((reason: unknown) => Refused | PromiseLike<Refused>) | null
  ): Promise<Value | Refused> {
    this.#first ??= this.#request(null)
    return this.#first.then(done, failed)
  }

  catch<Refused = never>(
    failed?: ((reason: unknown) => Refused | PromiseLike<Refused>) | null
  ): Promise<P | Refused> {
    return this.then(null, failed)
  }

  finally(done?: (() => void) | null): Promise<P> {
    return this.then().finally(done)
  }

  /** Yields the pages. */
  async *pages(): AsyncGenerator<P, undefined> {
    let page: P = await this
    yield page
    while (page.nextCursor !== null) {
      page = await this.#request(page.nextCursor)
      yield page
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<P['data'][number], undefined> {
    for await (const { data } of this.pages()) for (const row of data) yield row as Awaited<P['data'][number]>
  }

  /** Resolves with the first `max` rows, or with all of them if there are fewer. */
  async take(max: number): Promise<P['data'][number][]> {
    const rows: P['data'][number][] = []
    if (max <= 0) return rows
    for await (const row of this) if (rows.push(row) >= max) break
    return rows
  }
}
