/** Texts of a problem's page: its cause, its remedy, and an example of `detail`. */
export interface ProblemText {
  readonly meaning: string
  readonly remedy: string
  readonly example: string
}
