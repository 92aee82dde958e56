/** A folder with the files of a database at one moment. */
export interface DatabaseSnapshot {
  readonly directory: string
  remove(): Promise<void>
}

/** Access to the files of the embedded store's databases. */
export interface DatabaseFiles {
  /** Tells whether a folder is a database. */
  isDatabase(directory: string): Promise<boolean>
  /**
   * Makes a snapshot of a database that another process may have open, beside it. It shares the database's tables. Rejects
   * with an Error in one line if tables change too fast.
   */
  snapshotDatabase(directory: string): Promise<DatabaseSnapshot>
  /**
   * Verifies the checksums of a database that no process has open. Returns each damage in one line. Tables with a trusted
   * stamp (size, time, inode) are not read.
   */
  damageOfCopy(directory: string, trusted: ReadonlySet<string>): Promise<string[]>
  /** Returns the stamps of a database's tables, for `damageOfCopy`. */
  stampsOfTables(directory: string): Promise<string[]>
  /** Returns the stamp of a file; null if it is absent. A file with an equal stamp has not changed. */
  stampOf(path: string): Promise<string | null>
}
