/* The scripts of the ranking. A board's partition has these keys, in one slot by their hash tag:
 *
 *   KEYS[1]  z  sorted set: the index keys of its entries, all with score 0, so in order of bytes
 *   KEYS[2]  h  hash: member -> version (8 bytes, big-endian), then its index key; of one that is
 *               not ranked any more the version alone
 *   KEYS[3]  g  sorted set: the groups, which are the beginnings (score, subscore) of index keys
 *   KEYS[4]  m  hash: state "w" when it is whole; groups: "all" when g is whole, else how far it
 *               is; build: the token of who is building it
 *   KEYS[5]  t  sorted set: members that are not ranked any more, by the second they went at
 *   KEYS[6]  l  the lease of who is building it
 *
 * An entry moves only to a version that is newer, so who applies what and how often does not
 * matter. A group that loses its last entry goes; counts of groups are not kept, since the entries
 * that begin with one are a range of z. Members that went are remembered for ten minutes: what
 * comes late from before does not bring them back. A ranking without entries is forgotten after an
 * hour, and found to be missing when it is asked for again.
 */
#include "table/remote/rank_scripts.h"

#include <openssl/sha.h>
#include <stdio.h>

/* What several scripts begin with: the length of an index key's first numbers (value/number.h), the
 * least key after all that begin with a prefix, and where a key stands. */
#define COMMON                                                            \
    "local z,h,g,m,t,l=KEYS[1],KEYS[2],KEYS[3],KEYS[4],KEYS[5],KEYS[6]\n" \
    "local call,byte,sub=redis.call,string.byte,string.sub\n"             \
    "local function span(key,parts)\n"                                    \
    " local at=1\n"                                                       \
    " for _=1,parts do\n"                                                 \
    "  local first=byte(key,at)\n"                                        \
    "  at=at+1\n"                                                         \
    "  if first~=128 then\n"                                              \
    "   local last=first>128 and 0 or 1\n"                                \
    "   while byte(key,at)%2~=last do at=at+1 end\n"                      \
    "   at=at+1\n"                                                        \
    "  end\n"                                                             \
    " end\n"                                                              \
    " return at-1\n"                                                      \
    "end\n"                                                               \
    "local function after(key)\n"                                         \
    " return sub(key,1,-2)..string.char(byte(key,-1)+1)\n"                \
    "end\n"                                                               \
    "local function place(key,parts)\n"                                   \
    " local found=call('ZSCORE',z,key) and 1 or 0\n"                      \
    " local all=call('ZCARD',z)\n"                                        \
    " local before=call('ZLEXCOUNT',z,'-','('..key)\n"                    \
    " local r={found,before,all-before-found}\n"                          \
    " if parts>0 then\n"                                                  \
    "  local group=sub(key,1,span(key,parts))\n"                          \
    "  r[4]=call('ZLEXCOUNT',z,'-','('..group)\n"                         \
    "  r[5]=call('ZLEXCOUNT',z,'['..after(group),'+')\n"                  \
    "  r[6]=call('ZLEXCOUNT',g,'-','('..group)\n"                         \
    "  r[7]=call('ZLEXCOUNT',g,'('..group,'+')\n"                         \
    " end\n"                                                              \
    " return r\n"                                                         \
    "end\n"

/* ARGV: parts of a group (0: no ranks are asked for), the second it is, the token of who builds (or
 * ""), the index key before as the caller knows it; then of each entry its member, its version, its
 * index key ("" if it is not ranked). Returns the state, then for each entry 1 (moved), 0 (it has
 * this version or a newer one) or 2 (a member that went is newer: the caller has to look which is
 * right); then, of a single entry whose ranks are asked for, where it stood and stands, as lists or
 * 0. The state is "w", "" or, for who builds and has lost it, "lost". */
static const char move_text[] = COMMON
    "local parts,now=tonumber(ARGV[1]),tonumber(ARGV[2])\n"
    "local state=call('HMGET',m,'state','groups','build')\n"
    "if ARGV[3]~='' then\n"
    " if state[3]~=ARGV[3] then return {'lost'} end\n"
    " call('PEXPIRE',l,30000)\n"
    "end\n"
    "local function regroup(gone,come)\n"
    " if not state[2] then return end\n"
    " if come then call('ZADD',g,0,sub(come,1,span(come,2))) end\n"
    " if gone then\n"
    "  local group=sub(gone,1,span(gone,2))\n"
    "  if call('ZLEXCOUNT',z,'['..group,'('..after(group))==0 then call('ZREM',g,group) end\n"
    " end\n"
    "end\n"
    "local function shift(gone,come)\n"
    " if gone then call('ZREM',z,gone) end\n"
    " if come then call('ZADD',z,0,come) end\n"
    " regroup(gone,come)\n"
    "end\n"
    "local count=(#ARGV-4)/3\n"
    "local names={}\n"
    "for i=1,count do names[i]=ARGV[3*i+2] end\n"
    "local have=call('HMGET',h,unpack(names))\n"
    "local gone,come,sets,went,out={},{},{},{},{state[1] or ''}\n"
    "local before,moved\n"
    "for i=1,count do\n"
    " local old,version,key=have[i],ARGV[3*i+3],ARGV[3*i+4]\n"
    " local has=old and struct.unpack('>I8',old) or -1\n"
    " local was=old and #old>8 and sub(old,9) or nil\n"
    " local new=struct.unpack('>I8',version)\n"
    " if new>has then\n"
    "  if parts>0 then before=was and place(was,parts) or 0 end\n"
    "  if was and was~=key then gone[#gone+1]=was end\n"
    "  if key~='' then\n"
    "   if was~=key then come[#come+1]='0' come[#come+1]=key end\n"
    "   sets[#sets+1]=names[i] sets[#sets+1]=version..key\n"
    "  else\n"
    "   sets[#sets+1]=names[i] sets[#sets+1]=version\n"
    "   went[#went+1]=now went[#went+1]=names[i]\n"
    "  end\n"
    "  out[i+1]=1\n"
    " elseif old and not was and key~='' then out[i+1]=2\n"
    " else\n"
    "  out[i+1]=0\n"
    "  if parts>0 and new==has then\n"
    "   local then_=ARGV[4]~='' and ARGV[4] or nil\n"
    "   if then_==was then before=was and place(was,parts) or 0\n"
    "   else\n"
    "    shift(was,then_)\n"
    "    before=then_ and place(then_,parts) or 0\n"
    "    shift(then_,was)\n"
    "   end\n"
    "  end\n"
    " end\n"
    "end\n"
    "if #gone>0 then call('ZREM',z,unpack(gone)) end\n"
    "if #come>0 then call('ZADD',z,unpack(come)) end\n"
    "if #sets>0 then call('HSET',h,unpack(sets)) end\n"
    "if #went>0 then call('ZADD',t,unpack(went)) end\n"
    "if state[2] then\n"
    " for i=2,#come,2 do regroup(nil,come[i]) end\n"
    " for i=1,#gone do regroup(gone[i]) end\n"
    "end\n"
    "if #gone>0 or #come>0 then\n"
    " local all=call('ZCARD',z)\n"
    " if all==0 then for i=1,5 do call('EXPIRE',KEYS[i],3600) end\n"
    " elseif all==#come/2 then for i=1,5 do call('PERSIST',KEYS[i]) end end\n"
    "end\n"
    "if parts>0 then\n"
    " out[3]=before or 0\n"
    " out[4]=ARGV[7]~='' and before and place(ARGV[7],parts) or 0\n"
    " out[5]=call('ZCARD',z)\n"
    " out[6]=state[2]=='all' and 1 or 0\n"
    " out[7]=before and 1 or 0\n"
    "end\n"
    "if ARGV[3]=='' then\n"
    " local late=call('ZRANGEBYSCORE',t,'-inf',now-600,'LIMIT',0,4)\n"
    " for i=1,#late do\n"
    "  local old=call('HGET',h,late[i])\n"
    "  if old and #old==8 then call('HDEL',h,late[i]) end\n"
    "  call('ZREM',t,late[i])\n"
    " end\n"
    "end\n"
    "return out\n";

/* ARGV: the token of who builds, then of each entry its member, and its version and index key in
 * one string, as h keeps it. Adds them if it knows none of these members and has no groups, else
 * nothing: "added", "known" or "lost". Half the work of a move, and nearly all that a build does.
 */
static const char fill_text[] =
    "local z,h,m,l=KEYS[1],KEYS[2],KEYS[4],KEYS[6]\n"
    "local call,sub=redis.call,string.sub\n"
    "local state=call('HMGET',m,'groups','build')\n"
    "if state[2]~=ARGV[1] then return 'lost' end\n"
    "call('PEXPIRE',l,30000)\n"
    "if state[1] then return 'known' end\n"
    "local list,count={},0\n"
    "for i=2,#ARGV,2 do count=count+1 list[count]=ARGV[i] end\n"
    "local have=call('HMGET',h,unpack(list))\n"
    "for i=1,count do if have[i] then return 'known' end end\n"
    "for i=1,count do list[2*i-1]='0' list[2*i]=sub(ARGV[2*i+1],9) end\n"
    "call('ZADD',z,unpack(list))\n"
    "call('HSET',h,unpack(ARGV,2))\n"
    "if call('ZCARD',z)==count then for i=1,5 do call('PERSIST',KEYS[i]) end end\n"
    "return 'added'\n";

/* ARGV: parts of a group, whether groups are counted, then for each question "m" and a member, or
 * "k" and an index key. Returns the state ("g": groups are asked for and not whole), then of each
 * the index key ("" if there is none) and its place. */
static const char look_text[] = COMMON "local parts=tonumber(ARGV[1])\n"
                                       "local state=call('HMGET',m,'state','groups')\n"
                                       "if not state[1] then return {''} end\n"
                                       "if ARGV[2]=='1' and state[2]~='all' then return {'g'} end\n"
                                       "local out={state[1]}\n"
                                       "for i=3,#ARGV,2 do\n"
                                       " local key=ARGV[i+1]\n"
                                       " if ARGV[i]=='m' then\n"
                                       "  local old=call('HGET',h,key)\n"
                                       "  key=old and #old>8 and sub(old,9) or ''\n"
                                       " end\n"
                                       " out[#out+1]=key\n"
                                       " out[#out+1]=key~='' and place(key,parts) or 0\n"
                                       "end\n"
                                       "return out\n";

/* ARGV: the least key and the one after the greatest ("" for none), how many to leave out at the
 * end the page begins at and at the other, how many at most (-1: only count), and whether it is
 * read from the greatest down. Returns the state, how many there are after leaving out, and the
 * keys, in rising order. */
static const char page_text[] =
    COMMON "local state=call('HGET',m,'state')\n"
           "if not state then return {''} end\n"
           "local first=ARGV[1]~='' and call('ZLEXCOUNT',z,'-','('..ARGV[1]) or 0\n"
           "local last=ARGV[2]~='' and call('ZLEXCOUNT',z,'-','('..ARGV[2]) or call('ZCARD',z)\n"
           "local skip,skip_end,limit=tonumber(ARGV[3]),tonumber(ARGV[4]),tonumber(ARGV[5])\n"
           "local count=math.max(0,last-first-skip-skip_end)\n"
           "local out={state,count}\n"
           "if limit<0 or count==0 then return out end\n"
           "limit=math.min(limit,count)\n"
           "local from=first+skip\n"
           "if ARGV[6]=='1' then from=last-skip-limit end\n"
           "out[3]=call('ZRANGE',z,from,from+limit-1)\n"
           "return out\n";

/* ARGV: how many entries at most. Returns 1 when all groups are there. */
static const char group_text[] =
    COMMON "local at=call('HGET',m,'groups')\n"
           "if at=='all' then return 1 end\n"
           "if not call('HGET',m,'state') then return 1 end\n"
           "local keys=call('ZRANGEBYLEX',z,at and '('..sub(at,2) or '-','+','LIMIT',0,ARGV[1])\n"
           "local groups,last={},nil\n"
           "for i=1,#keys do\n"
           " local group=sub(keys[i],1,span(keys[i],2))\n"
           " if group~=last then groups[#groups+1]='0' groups[#groups+1]=group last=group end\n"
           "end\n"
           "if #groups>0 then call('ZADD',g,unpack(groups)) end\n"
           "local whole=#keys<tonumber(ARGV[1])\n"
           "call('HSET',m,'groups',whole and 'all' or 'c'..keys[#keys])\n"
           "return whole and 1 or 0\n";

/* ARGV: a token. Returns 0 (it is whole), 1 (go ahead) or 2 (somebody else is building it). */
static const char begin_text[] =
    COMMON "if call('HGET',m,'state') then return 0 end\n"
           "if not call('SET',l,ARGV[1],'NX','PX',30000) then return 2 end\n"
           "call('HSET',m,'build',ARGV[1])\n"
           "return 1\n";

/* ARGV: the token, and whether all of it was done. Returns 1 if it is whole now. */
static const char finish_text[] =
    COMMON "if call('HGET',m,'build')~=ARGV[1] then return 0 end\n"
           "call('DEL',l)\n"
           "call('HDEL',m,'build')\n"
           "if ARGV[2]~='1' then return 0 end\n"
           "call('HSET',m,'state','w')\n"
           "if call('ZCARD',z)==0 then for i=1,5 do call('EXPIRE',KEYS[i],3600) end end\n"
           "return 1\n";

/* ARGV: a member and a version. Forgets that the member went, though that was later: somebody has
 * looked, and it is there. */
static const char forget_text[] =
    COMMON "local old=call('HGET',h,ARGV[1])\n"
           "if not old or #old~=8 or struct.unpack('>I8',old)<struct.unpack('>I8',ARGV[2]) then\n"
           " return 0\n"
           "end\n"
           "return call('HDEL',h,ARGV[1])\n";

/* Every command of the other scripts, on keys that are gone afterwards: an error tells what the
 * server does not let this user do. */
static const char trial_text[] = COMMON "call('ZADD',z,0,'a',0,'b')\n"
                                        "place('b',0)\n"
                                        "call('ZRANGE',z,0,0)\n"
                                        "call('ZRANGEBYLEX',z,'-','+','LIMIT',0,1)\n"
                                        "call('ZRANGEBYSCORE',z,'-inf',0,'LIMIT',0,1)\n"
                                        "call('ZREM',z,'a')\n"
                                        "call('HSET',h,'a','1')\n"
                                        "call('HGET',h,'a')\n"
                                        "call('HMGET',h,'a')\n"
                                        "call('HDEL',h,'a')\n"
                                        "call('SET',l,'1','NX','PX',30000)\n"
                                        "call('PEXPIRE',l,30000)\n"
                                        "call('EXPIRE',z,3600)\n"
                                        "call('PERSIST',z)\n"
                                        "return call('DEL',z,l)\n";

static void init_script(struct rank_script *script, const char *text) {
    unsigned char digest[SHA_DIGEST_LENGTH];
    script->text = text;
    SHA1((const unsigned char *)text, strlen(text), digest);
    for (unsigned i = 0; i < SHA_DIGEST_LENGTH; i++)
        snprintf(script->sha + 2 * (size_t)i, 3, "%02x", digest[i]);
}

void rank_scripts_init(struct rank_scripts *scripts) {
    init_script(&scripts->move, move_text);
    init_script(&scripts->fill, fill_text);
    init_script(&scripts->look, look_text);
    init_script(&scripts->page, page_text);
    init_script(&scripts->group, group_text);
    init_script(&scripts->forget, forget_text);
    init_script(&scripts->begin, begin_text);
    init_script(&scripts->finish, finish_text);
    init_script(&scripts->trial, trial_text);
}
