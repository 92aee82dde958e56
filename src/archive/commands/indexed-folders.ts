import { ProblemTally } from '../../recorded/problems.ts'
import { scanRecorded, type RecordedIndex } from '../../recorded/scan.ts'
import type { PathContent } from '../rows/path-content.ts'
import { problemText } from './import-report.ts'

/** The import cannot begin; the message is for the operator. */
export class Refused extends Error {}

/** The indexed folders, and the items of all folders that cannot be read. */
export interface IndexedFolders {
  readonly indexes: readonly RecordedIndex[]
  readonly problems: ProblemTally
}

/** Indexes the folders with blocks. Rejects with Refused if there is nothing to import. */
export async function indexedFolders(
  { folders, rows, refusals }: PathContent,
  complain: (line: string) => void,
  signal: AbortSignal
): Promise<IndexedFolders> {
  const problems = new ProblemTally((problem) => complain(problemText(problem)))
  const indexes: RecordedIndex[] = []
  for (const { directory, accepts } of folders) {
    const index = await scanRecorded(directory, { problems, accepts, signal })
    signal.throwIfAborted()
    if (index.kind === 'indexed') indexes.push(index)
    else if (rows.length === 0 && folders.length === 1)
      throw new Refused(
        `${directory} has no block, transaction or trade row that can be read; see \`millrace record --help\``
      )
  }
  const [first] = refusals
  if (indexes.length === 0 && rows.length === 0 && first !== undefined)
    throw new Refused(`${first.file} cannot be read (${first.detail})`)
  return { indexes, problems }
}
