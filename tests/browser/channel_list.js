// channel_list.js - tests that the channel list is up to date after a reconnection, and while a role is viewed; and the
// insights of a server.
import assert from "node:assert/strict";
import { call, enter } from "./harness.js";

const RESUME = 6, INVALID_SESSION = 9;
const guildOf = async (name) => {
  const g = await call("ada", "POST", "/guilds", { name }), channels = await call("ada", "GET", `/guilds/${g.id}/channels`);
  return { id: g.id, general: channels.find((c) => c.type === 0) };
};
const link = (page, name) => page.getByRole("navigation").getByRole("link", { name, exact: true });

export const TESTS = {
  async channel_renamed_during_a_disconnection_has_its_new_name_afterwards() {
    const g = await guildOf("The Harbour"), page = await enter("ada");
    let frozen = false;
    await page.routeWebSocket(/encoding=json/, (ws) => {
      const upstream = ws.connectToServer();
      page.gateway = ws;
      ws.onMessage((m) => {
        if (JSON.parse(String(m)).op === RESUME) ws.send(JSON.stringify({ op: INVALID_SESSION, d: false }));
        else upstream.send(m);
      });
      upstream.onMessage((m) => { if (!frozen) ws.send(m); });
    });
    await page.open(`/channels/${g.id}/${g.general.id}`);
    await link(page, "general").waitFor();
    frozen = true; // the event of the change is lost
    await call("ada", "PATCH", `/channels/${g.general.id}`, { name: "quay" });
    frozen = false;
    await page.gateway.close({ code: 4000 });
    await link(page, "quay").waitFor();
    assert.equal(await link(page, "general").count(), 0);
    await page.close();
  },

  async insights_show_members_and_messages_of_the_server() {
    const g = await guildOf("The Ledger"), page = await enter("ada");
    for (const content of ["one", "two", "three"]) await call("ada", "POST", `/channels/${g.general.id}/messages`, { content });
    await page.open(`/channels/${g.id}/settings/insights`);
    const row = (name) => page.getByRole("group", { name }).locator("tbody tr").first().getByRole("cell");
    await row("Channel").first().waitFor();
    assert.deepEqual(await row("Channel").allTextContents(), ["#general", "3"]);
    // Today, or yesterday if the day ended during the test.
    const [, members, joined, left] = await row("Day").allTextContents();
    assert.deepEqual([members, left], ["1", "0"]);
    assert.match(joined, /^[01]$/);
    assert.equal(await page.locator(".bars").first().locator("i").count(), 28);
    // A member without the permission does not get the page.
    const invite = await call("ada", "POST", `/channels/${g.general.id}/invites`, {}), bob = await enter("bob");
    await call("bob", "POST", `/invites/${invite.code}`, {});
    await bob.open(`/channels/${g.id}/settings/insights`);
    await bob.getByText("You need the permission “View server insights” for this page.").waitFor();
    await Promise.all([page.close(), bob.close()]);
  },

  async channel_list_of_a_viewed_role_follows_the_permissions_of_the_role() {
    const g = await guildOf("The Lock"), page = await enter("ada"), VIEW = String(1 << 10);
    await call("ada", "PATCH", `/guilds/${g.id}/roles/${g.id}`, { permissions: "0" });
    const role = await call("ada", "POST", `/guilds/${g.id}/roles`, { name: "Guests", permissions: VIEW });
    await page.open(`/channels/${g.id}/settings/roles`);
    await page.getByRole("button", { name: "View server as Guests" }).click();
    await link(page, "general").waitFor();
    await call("ada", "PATCH", `/guilds/${g.id}/roles/${role.id}`, { permissions: "0" });
    await link(page, "general").waitFor({ state: "detached" });
    await call("ada", "PATCH", `/guilds/${g.id}/roles/${role.id}`, { permissions: VIEW });
    await link(page, "general").waitFor();
    await page.close();
  },
};
