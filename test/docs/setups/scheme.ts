/** What the clients of docs/schemes need to compile. `test/servers` runs them. */
export interface Order {
  readonly id: string;
  readonly amount: number;
}

export const api = 'https://api.example';
export const secret = 'c2VjcmV0';
