import type { Stored } from '../../storage/documents.ts'

/** Finds documents by their version, so that a reload decodes only those that have changed. */
export function byVersion<T>(documents: Iterable<Stored<T>>): (version: string) => Stored<T> | undefined {
  const found = new Map(Array.from(documents, (stored) => [stored.version, stored]))
  return (version) => found.get(version)
}
