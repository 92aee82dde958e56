/** A change to a file of a checkout, which points its tests at the URL of the environment. */
export interface Replacement {
  /** Path in the checkout. */
  readonly file: string
  /** Text that the file has once or more. Each occurrence is replaced. */
  readonly from: string
  readonly to: string
}

/** How a run of a suite reports its tests. */
export type ReportFormat = 'mocha' | 'jest' | 'junit'

/** One command of a suite. */
export interface SuiteCommand {
  /** Name of the run; prefix of its tests if the suite has several runs. */
  readonly name: string
  /** Program and arguments, run in `folder`. `{report}` is the path of the report, `{cache}` the folder of the suite. */
  readonly command: readonly string[]
  /** Path in the checkout. */
  readonly folder: string
  readonly environment?: Readonly<Record<string, string>>
}

/**
 * The tests of a client library, which run against a node and against the RPC URL of the service.
 *
 * The environment variables `FOREIGN_RPC_URL` and `FOREIGN_SOCKET_URL` name the target.
 */
export interface ForeignSuite {
  readonly name: string
  readonly repository: string
  /** The commit that the expected differences are written for. */
  readonly commit: string
  /** The installer of the packages that its tests need: npm reads `package.json`, pip `requirements.txt`. */
  readonly installer: 'npm' | 'pip'
  readonly report: ReportFormat
  readonly replacements: readonly Replacement[]
  readonly commands: readonly SuiteCommand[]
  /** Folder of accounts of the node's genesis, in the checkout. */
  readonly accountsFolder?: string
  /** Programs of the node's genesis: files of the checkout by address. */
  readonly programs?: Readonly<Record<string, string>>
  /** Programs whose accounts the service mirrors. */
  readonly mirrored: readonly string[]
  /** Path in the checkout at which its tests expect the node's ledger. */
  readonly ledgerAt?: string
}
